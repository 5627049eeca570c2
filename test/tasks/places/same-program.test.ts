/** The same program runs in every kind of context, and finds out the same. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { thisHost } from "viceroy";
import { ProcessJob } from "viceroy/job";
import { JobContext } from "viceroy/tasks";
import { expect, test } from "vitest";
import { attachPatiently } from "../../host/attach-patiently.js";
import { startHost } from "../../host/start-host.js";
import { newCache, processesOf } from "../../job/job-program.js";
import { onSlurm } from "../../job/lab/slurm-tests.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { expectedFindings, runSmallProgram } from "./small-program.js";

const faults = collectUnhandledFaults();
const program = fileURLToPath(new URL("programs/on-a-job.ts", import.meta.url));

test.each(["inline", "thread", "process"] as const)("a program runs with isolation %s", async (isolation) => {
  await using context = await JobContext.open({ procs: 2, isolation });
  expect(await runSmallProgram(context)).toEqual(expectedFindings);
  expect(faults).toEqual([]);
});

test.each(["thread", "process"] as const)("it runs in a mesh of the program with isolation %s", async (isolation) => {
  await using mesh = thisHost().spawnProcs({ workers: 2 }, { isolation });
  for (const round of [1, 2]) {
    await using context = await JobContext.open({ procs: mesh });
    expect([round, await runSmallProgram(context)]).toEqual([round, expectedFindings]);
  }
  expect(faults).toEqual([]);
});

test("it runs on attached hosts, and in a mesh of processes on them", async () => {
  const daemons = await Promise.all([startHost(), startHost()]);
  await using hosts = attachPatiently(daemons.map(({ address }) => address));
  const context = await JobContext.open({ hosts, procs: 1 });
  expect(await runSmallProgram(context)).toEqual(expectedFindings);
  await context.close();
  const mesh = hosts.spawnProcs();
  const inMesh = await JobContext.open({ procs: mesh });
  expect(await runSmallProgram(inMesh)).toEqual(expectedFindings);
  await inMesh.close();
  await mesh.stop();
  await hosts.stop();
  await until(() => daemons.every((daemon) => daemon.drivers().length === 0));
  expect(faults).toEqual([]);
});

test("it runs on the hosts of a job of processes, and in a mesh of processes on them", async () => {
  await using job = new ProcessJob({ meshes: { workers: { hosts: 2 } }, cache: null, progress: "silent" });
  const { workers } = await job.state();
  const { applyId } = job;
  const context = await JobContext.open({ hosts: workers, procs: 1 });
  expect(await runSmallProgram(context)).toEqual(expectedFindings);
  await context.close();
  const mesh = workers.spawnProcs();
  const inMesh = await JobContext.open({ procs: mesh });
  expect(await runSmallProgram(inMesh)).toEqual(expectedFindings);
  await inMesh.close();
  await mesh.stop();
  await job.kill();
  expect(processesOf(applyId!)).toEqual([]);
  expect(faults).toEqual([]);
});

onSlurm("a program of tasks", (lab) => {
  test("runs on the nodes of a job, and in a mesh of processes on them", () => {
    const options = { meshes: { workers: { hosts: 2 } }, cache: newCache(), progress: "silent" };
    const [file, ...through] = [...lab.cluster.login.through, process.execPath];
    const args = [...through, "--import", "tsx", program, "slurm", JSON.stringify(options)];
    const { stdout, stderr } = spawnSync(file!, args, { env: lab.cluster.env, encoding: "utf8" });
    const place = { findings: expectedFindings, machines: ["n1", "n2"] };
    expect([stderr, JSON.parse(stdout)]).toEqual(["", { onHosts: place, onMesh: place }]);
    expect(lab.living()).toEqual([]);
  });
});
