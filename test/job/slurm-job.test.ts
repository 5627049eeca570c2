/**
 * Tests of jobs on a real cluster of Slurm: slurmctld and three slurmd in network namespaces. The driver runs on the login
 * machine, as a program of its own.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { type DriverEnd, type JobDriver, startJobDriver } from "./job-driver.js";
import { newCache } from "./job-program.js";
import { hasSlurm, SlurmCluster } from "./lab/slurm-cluster.js";

const slurm = permitted("jobs on a cluster of Slurm", "Debian's packages slurmctld, slurmd and munge", hasSlurm);

/** It is made here, and not before the first test, so that it is removed after the tests of the file. */
const cluster = networks && slurm ? new SlurmCluster(3) : (undefined as unknown as SlurmCluster);
const drivers: JobDriver[] = [];

function startDriver(options: object, how: DriverEnd = "kill", env: NodeJS.ProcessEnv = cluster.env): JobDriver {
  const wanted = { cache: newCache(), ...options };
  const driver = startJobDriver(cluster.login.through, "on-slurm.ts", wanted, how, env);
  drivers.push(driver);
  return driver;
}

/** Returns the jobs of the cluster that have not ended: their ids. */
function living(): string[] {
  return cluster
    .run("squeue", "--noheader", "--format=%i")
    .split("\n")
    .filter((line) => line !== "");
}

const states = (id: string) =>
  cluster.run("squeue", "--noheader", `--jobs=${id}`, "--states=all", "--format=%T").trim();

/** Submits a job of somebody else. */
function occupy(...args: string[]): string {
  return cluster.run("sbatch", "--parsable", "--output=/dev/null", ...args, "--wrap=sleep 600").trim();
}

describe.runIf(networks && slurm)("a job of Slurm", () => {
  beforeAll(async () => {
    await compileCrew();
  });
  afterEach(async () => {
    for (const { child } of drivers.splice(0)) child.kill("SIGKILL");
    cluster.run("scancel", "--user=root");
    await until(() => living().length === 0);
  });

  test("runs its hosts on nodes, gives each process its GPU, and is cancelled at the end", async () => {
    const driver = startDriver({ setup: "export SLURM_JOB_GPUS=2,5" });
    const { names, gpus, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(["n1", "n1", "n2", "n2"]);
    expect(gpus).toEqual(["2", "5", "2", "5"]);
    expect(await driver.exited).toBe(0);
    expect(living()).toEqual([]);
    expect(driver.events().at(-1)).toBe("ended: it was killed");
  });

  test("can be used by the next run of the program, also after the driver was killed", async () => {
    const cache = newCache();
    const first = startDriver({ cache }, "wait");
    const { applyId } = await first.outcome();
    first.child.kill("SIGKILL");
    await first.exited;
    const second = startDriver({ cache }, "kill");
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
    expect(living()).toEqual([]);
  });

  test("ends when it had no driver for its idle time", async () => {
    const driver = startDriver({ idle: "6s" }, "wait");
    const { names } = await driver.outcome();
    expect(names).toHaveLength(4);
    driver.child.kill("SIGKILL");
    await until(() => living().length === 0);
  });

  test("that a killed driver could not record is found by its comment", async () => {
    const cache = newCache();
    const first = startDriver({ cache }, "leave");
    const { applyId } = await first.outcome();
    first.child.kill("SIGKILL");
    const record = JSON.parse(readFileSync(cache, "utf8"));
    writeFileSync(cache, JSON.stringify({ ...record, allocation: null }));
    const second = startDriver({ cache });
    expect((await second.outcome()).applyId).toBe(applyId);
    expect(await second.exited).toBe(0);
  });

  test("with meshes that need different nodes is one heterogeneous job", async () => {
    const driver = startDriver({ meshes: { workers: { hosts: 1, cpus: 1 }, loaders: { hosts: 1, cpus: 2 } } }, "wait");
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toHaveLength(2);
    expect(living().map((id) => id.replace(/^\d+/, ""))).toEqual(expect.arrayContaining(["+0", "+1"]));
  });

  test("waits with Slurm's own reason while others use the nodes", async () => {
    const other = occupy("--nodes=3", "--exclusive");
    await until(() => states(other) === "RUNNING");
    const driver = startDriver({ hostTimeout: "1s" });
    await until(() =>
      driver.events().some((event) => /^pending: job \d+ is PENDING: (Resources|Priority)$/.test(event)),
    );
    // The time in the queue does not count for hostTimeout.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    cluster.run("scancel", other);
    expect((await driver.outcome()).names).toHaveLength(4);
    expect(await driver.exited).toBe(0);
  });

  test("that somebody else cancels while it waits is an error", async () => {
    const other = occupy("--nodes=3", "--exclusive");
    await until(() => states(other) === "RUNNING");
    const driver = startDriver({});
    await until(() => driver.events().some((event) => event.startsWith("pending: ") && event.includes("PENDING")));
    const id = living().find((job) => job !== other)!;
    cluster.run("scancel", id);
    const { name, message } = await driver.outcome();
    expect(name).toBe("JobStartError");
    expect(message).toBe(`cannot start job "viceroy": Slurm has ended job ${id}: CANCELLED`);
  });

  test("that somebody else cancels while it runs ends with an event", async () => {
    const driver = startDriver({}, "wait");
    await driver.outcome();
    const [id] = living();
    cluster.run("scancel", id!);
    await until(() => driver.events().some((event) => event.startsWith(`ended: Slurm has ended job ${id}: CANCELLED`)));
  });

  test("whose host cannot start is an error with the end of its output", async () => {
    const driver = startDriver({ setup: "echo no such module >&2; exit 3" });
    const { name, message } = await driver.outcome();
    expect(name).toBe("JobStartError");
    expect(message).toMatch(
      /^cannot start job "viceroy": Slurm has ended job \d+: FAILED \(NonZeroExitCode\); its output ends with: no such module$/,
    );
  });

  test("that Slurm refuses is an error with Slurm's words", async () => {
    const { name, message } = await startDriver({ partition: "moon" }).outcome();
    expect(name).toBe("JobSubmitError");
    expect(message).toBe(
      'cannot submit job "viceroy": sbatch: sbatch: error: invalid partition specified: moon\n' +
        "sbatch: error: Batch job submission failed: Invalid partition name specified",
    );
    expect(living()).toEqual([]);
  });

  test("where there is no Slurm is an error that says what to install", async () => {
    const { name, message } = await startDriver({}, "kill", process.env).outcome();
    expect(name).toBe("JobSubmitError");
    expect(message).toBe(
      'cannot submit job "viceroy": sbatch: there is no program sbatch here; install Slurm\'s client programs, or name ' +
        "a login node with the option login",
    );
  });

  test("whose nodes are preempted tells so", async () => {
    const driver = startDriver({}, "wait");
    await driver.outcome();
    const [id] = living();
    // The driver looks at the queue every 2 s, and has to see that the job runs.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    occupy("--partition=urgent", "--nodes=3", "--exclusive");
    await until(() => driver.events().some((event) => event.startsWith(`host-lost: job ${id} is PENDING again`)));
  });

  test("goes on while the controller of Slurm is away", async () => {
    const driver = startDriver({}, "wait");
    await driver.outcome();
    await cluster.stopController();
    await until(() => driver.events().some((event) => event.startsWith("pending: Slurm does not answer: ")));
    cluster.startController();
    const [id] = living();
    cluster.run("scancel", id!);
    await until(() => driver.events().some((event) => event.startsWith("ended: Slurm has ended job")));
  });

  test("never cancels a job of somebody else that has its number", async () => {
    const cache = newCache();
    const first = startDriver({ cache }, "leave");
    await first.outcome();
    const [own] = living();
    const other = occupy();
    const record = JSON.parse(readFileSync(cache, "utf8"));
    const allocation = { ...record.allocation, batches: [{ id: Number(other), meshes: ["workers"] }] };
    writeFileSync(cache, JSON.stringify({ ...record, allocation }));
    cluster.run("scancel", own!);
    const second = startDriver({ cache });
    const { applyId } = await second.outcome();
    expect(applyId).not.toBe(record.applyId);
    expect(await second.exited).toBe(0);
    expect(states(other)).not.toBe("CANCELLED");
  });
});
