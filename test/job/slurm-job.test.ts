/**
 * Tests of jobs on a real cluster of Slurm: slurmctld and three slurmd in network namespaces. The driver runs on the login
 * machine, as a program of its own.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project } from "../proc/crew.js";
import { limitUnderLoad, until } from "../proc/until.js";
import { newCache } from "./job-program.js";
import { onSlurm } from "./lab/slurm-tests.js";

onSlurm("a job of Slurm", (lab) => {
  test("runs its hosts on nodes, gives each process its GPU, and is cancelled at the end", async () => {
    const driver = lab.startDriver({ meshes: { workers: { hosts: 2, gpus: 2 } } });
    const { names, places, gpus, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(["n1", "n1", "n2", "n2"]);
    expect(places).toEqual(["workers[0]", "workers[0]", "workers[1]", "workers[1]"]);
    expect(gpus).toEqual(["0", "1", "0", "1"]);
    expect(await driver.exited).toBe(0);
    expect(lab.living()).toEqual([]);
    expect(driver.events().at(-1)).toBe("ended: it was killed");
  });

  test("can be used by the next run of the program, also after the driver was killed", async () => {
    const cache = newCache();
    const first = lab.startDriver({ cache }, "wait");
    const { applyId } = await first.outcome();
    first.child.kill("SIGKILL");
    await first.exited;
    const second = lab.startDriver({ cache }, "kill");
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
    expect(lab.living()).toEqual([]);
  });

  test("ends when it had no driver for its idle time", async () => {
    const driver = lab.startDriver({ idle: limitUnderLoad(6000) }, "wait");
    const { names } = await driver.outcome();
    expect(names).toHaveLength(4);
    driver.child.kill("SIGKILL");
    await until(() => lab.living().length === 0);
  });

  test("without a cache has its folder where the nodes see it, in the working directory", async () => {
    const driver = lab.startDriver({ cache: null }, "wait");
    const { names, applyId } = await driver.outcome();
    expect(names).toHaveLength(4);
    const [id] = lab.living();
    expect(lab.show(id!)["StdOut"]).toBe(join(project, `.viceroy/jobs/${applyId}/slurm-${id}.log`));
  });

  test("that a killed driver could not record is found by its comment", async () => {
    const cache = newCache();
    const first = lab.startDriver({ cache }, "leave");
    const { applyId } = await first.outcome();
    first.child.kill("SIGKILL");
    const record = JSON.parse(readFileSync(cache, "utf8"));
    writeFileSync(cache, JSON.stringify({ ...record, allocation: null }));
    const second = lab.startDriver({ cache });
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
  });

  test("with meshes that need different nodes is one heterogeneous job", async () => {
    const driver = lab.startDriver(
      { meshes: { workers: { hosts: 1, cpus: 1 }, loaders: { hosts: 1, cpus: 2 } } },
      "wait",
    );
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toHaveLength(2);
    expect(lab.living().map((id) => id.replace(/^\d+/, ""))).toEqual(expect.arrayContaining(["+0", "+1"]));
  });

  test("waits with Slurm's own reason while others use the nodes", async () => {
    const other = await lab.occupyNow("--nodes=3", "--exclusive");
    const limit = limitUnderLoad(8000);
    const driver = lab.startDriver({ hostTimeout: limit });
    await until(() =>
      driver.events().some((event) => /^pending: job \d+ is PENDING: (Resources|Priority)$/.test(event)),
    );
    // The time in the queue does not count for hostTimeout.
    await new Promise((resolve) => setTimeout(resolve, limit + 1000));
    lab.cluster.run("scancel", other);
    expect((await driver.outcome()).names).toHaveLength(4);
    expect(await driver.exited).toBe(0);
  });

  test("that somebody else cancels while it waits is an error", async () => {
    const other = await lab.occupyNow("--nodes=3", "--exclusive");
    const driver = lab.startDriver({});
    await until(() => driver.events().some((event) => event.startsWith("pending: ") && event.includes("PENDING")));
    const id = lab.living().find((job) => job !== other)!;
    lab.cluster.run("scancel", id);
    const { name, message } = await driver.outcome();
    expect(name).toBe("JobStartError");
    expect(message).toBe(`cannot start job "viceroy": Slurm has ended job ${id}: CANCELLED`);
  });

  test("that somebody else cancels while it runs ends with an event", async () => {
    const driver = lab.startDriver({}, "wait");
    await driver.outcome();
    const [id] = lab.living();
    lab.cluster.run("scancel", id!);
    await until(() => driver.events().some((event) => event.startsWith(`ended: Slurm has ended job ${id}: CANCELLED`)));
  });

  test("whose nodes are preempted tells so", async () => {
    const driver = lab.startDriver({}, "wait");
    await driver.outcome();
    const [id] = lab.living();
    lab.occupy("--partition=urgent", "--nodes=3", "--exclusive");
    await until(() => driver.events().some((event) => event.startsWith(`host-lost: job ${id} is PENDING again`)));
  });

  test("goes on while the controller of Slurm is away", async () => {
    const driver = lab.startDriver({}, "wait");
    await driver.outcome();
    await lab.cluster.stopController();
    await until(() => driver.events().some((event) => event.startsWith("pending: Slurm does not answer: ")));
    lab.cluster.startController();
    const [id] = lab.living();
    lab.cluster.run("scancel", id!);
    await until(() => driver.events().some((event) => event.startsWith("ended: Slurm has ended job")));
  });

  test("never cancels a job of somebody else that has its number", async () => {
    const cache = newCache();
    const first = lab.startDriver({ cache }, "leave");
    await first.outcome();
    const [own] = lab.living();
    const other = lab.occupy();
    const record = JSON.parse(readFileSync(cache, "utf8"));
    const allocation = { ...record.allocation, batches: [{ id: Number(other), meshes: ["workers"] }] };
    writeFileSync(cache, JSON.stringify({ ...record, allocation }));
    lab.cluster.run("scancel", own!);
    const second = lab.startDriver({ cache });
    const { applyId } = await second.outcome();
    expect(applyId).not.toBe(record.applyId);
    expect(await second.exited).toBe(0);
    expect(lab.state(other)).not.toBe("CANCELLED");
  });
});
