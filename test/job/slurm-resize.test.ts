/** Tests of jobs on a real cluster of Slurm that get more and fewer nodes while they run. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { limitUnderLoad, until } from "../proc/until.js";
import type { JobDriver } from "./job-driver.js";
import { newCache } from "./job-program.js";
import { onSlurm, type SlurmLab } from "./lab/slurm-tests.js";
import { running } from "./lab/ssh-drivers.js";

async function resize(lab: SlurmLab, options: object, how: "wait" | "kill" = "kill"): Promise<JobDriver> {
  const driver = lab.startDriver(options, how, lab.cluster.env, "on-resized-hosts.ts");
  await until(() => driver.printed.some(({ words }) => words !== undefined) || driver.child.exitCode !== null);
  expect(driver.complaints()).toBe("");
  return driver;
}

/** Returns the environment of programs whose `sbatch` begins after a pause. @param seconds the length of the pause */
function slowlySubmitting(lab: SlurmLab, seconds: number): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), "slow-sbatch-"));
  writeFileSync(join(folder, "sbatch"), `#!/bin/sh\nsleep ${seconds}\nPATH="\${PATH#*:}"\nexec sbatch "$@"\n`, {
    mode: 0o755,
  });
  return { ...lab.cluster.env, PATH: `${folder}${delimiter}${lab.cluster.env["PATH"]}` };
}

/** The lines that the program prints, one after each step: the ranks of the hosts, or the message of an error. */
const stepsOf = ({ printed }: JobDriver) =>
  printed.flatMap(({ places, message }) => (places ? [places.join(",")] : message === undefined ? [] : [message]));

onSlurm("the hosts of a job of Slurm", (lab) => {
  test("get more by another job, which is found again by the next run and ends with the first", async () => {
    const cache = newCache();
    const first = await resize(lab, { cache, sizes: [3] }, "wait");
    expect(stepsOf(first)).toEqual(["0", "0,1,2"]);
    expect(lab.living()).toHaveLength(2);
    const { applyId } = first.printed[0]!;
    first.child.kill("SIGKILL");
    const second = await resize(lab, { cache, sizes: [3] });
    expect(second.printed[0]!.applyId).toBe(applyId);
    expect(stepsOf(second)).toEqual(["0", "0,1,2"]);
    expect(await second.exited).toBe(0);
    expect(lab.living()).toEqual([]);
  });

  test("get fewer when the jobs that they have got end, and say which sizes are possible", async () => {
    const driver = await resize(lab, { sizes: [2, 3, 2, 1, 3, 2] });
    expect(stepsOf(driver)).toEqual([
      "0",
      "0,1",
      "0,1,2",
      "0,1",
      "0",
      "0,1,2",
      'cannot resize job "viceroy": Slurm ends whole jobs only, and that of workers[2] has other hosts, too; mesh "workers" can shrink ' +
        "to these sizes: 1. To leave single hosts, use workers.resize({ hosts: 2 }); they stay until the job ends",
    ]);
  });

  test("that a job has got later come back when they are lost", async () => {
    const driver = await resize(lab, { sizes: [2] }, "wait");
    const [first, second] = driver.printed.filter(({ names }) => names).at(-1)!.names!;
    const [daemon] = running(/^\S*node \S+viceroy\.js host /, lab.cluster.nodes["n2"]!.machine.pids);
    process.kill(daemon!, "SIGKILL");
    await until(() => driver.printed.some(({ event }) => event?.kind === "host-replaced" && event.rank === 1));
    await until(() => driver.printed.filter(({ names }) => names).at(-1)!.names![1] !== second);
    expect(driver.printed.filter(({ names }) => names).at(-1)!.names![0]).toBe(first);
  });

  test("wait in the queue of Slurm for more, which does not count for hostTimeout", async () => {
    const other = await lab.occupyNow("--nodes=2", "--exclusive");
    const limit = limitUnderLoad(8000);
    const options = { sizes: [2], hostTimeout: limit };
    const driver = lab.startDriver(options, "kill", lab.cluster.env, "on-resized-hosts.ts");
    await until(() => lab.living().length === 3);
    await new Promise((resolve) => setTimeout(resolve, limit + 1000));
    lab.cluster.run("scancel", other);
    expect(await driver.exited).toBe(0);
    expect(stepsOf(driver)).toEqual(["0", "0,1"]);
  });

  test("stay as before when the job for more ends", async () => {
    const other = await lab.occupyNow("--nodes=2", "--exclusive");
    const driver = lab.startDriver({ sizes: [2] }, "kill", lab.cluster.env, "on-resized-hosts.ts");
    await until(() => lab.living().length === 3);
    const id = Math.max(...lab.living().map(Number));
    lab.cluster.run("scancel", `${id}`);
    expect(await driver.exited).toBe(0);
    expect(stepsOf(driver)).toEqual(["0", `cannot resize job "viceroy": Slurm has ended job ${id}: CANCELLED`]);
    expect(lab.living()).toEqual([other]);
  });

  test("get each of them once from two programs that ask at the same time", async () => {
    const cache = newCache();
    const first = await resize(lab, { cache, sizes: [] }, "wait");
    const env = slowlySubmitting(lab, 5);
    const start = () => lab.startDriver({ cache, sizes: [3] }, "wait", env, "on-resized-hosts.ts");
    const drivers = [start(), start()];
    await until(() => drivers.every((driver) => stepsOf(driver).length === 2));
    expect(drivers.map(stepsOf)).toEqual([
      ["0", "0,1,2"],
      ["0", "0,1,2"],
    ]);
    expect(new Set([first, ...drivers].map(({ printed }) => printed[0]!.applyId)).size).toBe(1);
    expect(lab.living()).toHaveLength(2);
  });

  test("get none twice when a program is killed while it submits a job for them, and another program asks", async () => {
    const cache = newCache();
    await resize(lab, { cache, sizes: [] }, "wait");
    const env = slowlySubmitting(lab, 8);
    const killed = lab.startDriver({ cache, sizes: [3] }, "wait", env, "on-resized-hosts.ts");
    const submits = () => running(/slow-sbatch-\w+\/sbatch --parsable/, lab.cluster.login.machine.pids).length > 0;
    await until(submits);
    killed.child.kill("SIGKILL");
    await killed.exited;
    expect(lab.living()).toHaveLength(1);
    const next = await resize(lab, { cache, sizes: [3] }, "wait");
    expect(stepsOf(next)).toEqual(["0", "0,1,2"]);
    expect(submits()).toBe(false);
    expect(lab.living()).toHaveLength(2);
  });
});
