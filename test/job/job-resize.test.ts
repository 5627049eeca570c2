/** Tests of jobs that get further hosts while they run: real keepers and daemons. */
import { spawn, spawnSync } from "node:child_process";
import { JobResizeError, LocalJob, ProcessJob } from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew, project } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { newCache, processesOf } from "./job-program.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const jobs: ProcessJob<string>[] = [];
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
});

type Options = ConstructorParameters<typeof ProcessJob<"workers" | "loaders">>[0];

function makeJob(options: Partial<Options> = {}): ProcessJob<"workers" | "loaders"> {
  const meshes = { workers: { hosts: 1 }, loaders: { hosts: 1 } };
  const job = new ProcessJob({ meshes, cache: null, progress: "silent", ...options });
  jobs.push(job as unknown as ProcessJob<string>);
  return job;
}

describe("a job that grows", () => {
  test("returns meshes with more hosts, and earlier ones keep their extents", async () => {
    const job = makeJob();
    const { workers, loaders } = await job.state();
    const procs = workers.spawnProcs({ gpus: 2 });
    const mesh = procs.spawn("crew", crew.SteelWorker);
    const before = [...(await mesh.where.call()).values()].map(({ pid }) => pid);
    const grown = await job.resize({ workers: 3 });
    expect([workers.extent, grown.workers.extent]).toEqual([{ hosts: 1 }, { hosts: 3 }]);
    expect(grown.loaders).toBe(loaders);
    const more = procs.resize({ hosts: 3 });
    const places = [...(await more.resizeActors(mesh).where.call()).values()];
    expect(places.slice(0, 2).map(({ pid }) => pid)).toEqual(before);
    expect(new Set(places.map(({ pid }) => pid)).size).toBe(6);
    expect((await job.state()).workers).toBe(grown.workers);
    const applyId = job.applyId!;
    await job.kill();
    expect(processesOf(applyId)).toEqual([]);
  });

  test("grows twice when it is asked twice at the same time", async () => {
    const job = makeJob();
    await job.state();
    const [first, second] = await Promise.all([job.resize({ workers: 2 }), job.resize({ workers: 3, loaders: 2 })]);
    expect([first.workers.extent, second.workers.extent]).toEqual([{ hosts: 2 }, { hosts: 3 }]);
    expect(second.loaders.extent).toEqual({ hosts: 2 });
  });

  test("gets smaller again, by the end of hosts and of everything that runs on them", async () => {
    const job = makeJob();
    const { workers } = await job.resize({ workers: 3, loaders: 2 });
    const before = processesOf(job.applyId!).length;
    const mesh = workers.spawnProcs().spawn("crew", crew.SteelWorker);
    const [, kept, ended] = [...(await mesh.where.call()).values()].map(({ pid }) => pid);
    const smaller = await job.resize({ workers: 2 });
    expect([smaller.workers.extent, smaller.loaders.extent]).toEqual([{ hosts: 2 }, { hosts: 2 }]);
    expect([gone(kept!), gone(ended!)]).toEqual([false, true]);
    expect((await mesh.slice({ hosts: 1 }).where.callOne()).pid).toBe(kept);
    const grown = await job.resize({ workers: 3 });
    expect([...(await grown.workers.spawnProcs().spawn("next", crew.SteelWorker).where.call()).values()]).toHaveLength(
      3,
    );
    await job.resize({ workers: 1, loaders: 1 });
    expect(processesOf(job.applyId!).length).toBeLessThan(before);
    expect(faults).toEqual([]);
  });

  test("gives a host back that another program uses, which learns why it is lost", async () => {
    const cache = newCache();
    const job = makeJob({ cache });
    const { workers } = await job.resize({ workers: 2 });
    const restart = { policy: "on-failure", maxRestarts: 1 } as const;
    const mesh = workers.spawnProcs({}, { restart }).spawn("crew", crew.SteelWorker);
    await mesh.where.call();
    const options = { meshes: { workers: { hosts: 1 }, loaders: { hosts: 1 } }, cache, progress: "silent" };
    const code = `import { ProcessJob } from "viceroy/job";
const job = new ProcessJob(${JSON.stringify(options)});
await job.resize({ workers: 2 });
await job.resize({ workers: 1 });
process.exit();`;
    const other = spawnSync(process.execPath, ["--input-type=module", "-e", code], { cwd: project, encoding: "utf8" });
    expect([other.stderr, other.status]).toEqual(["", 0]);
    await until(() => faults.length > 0);
    expect(faults.splice(0)[0]!.report()).toContain("host workers[1] is gone: job.resize has given it back");
    // The keeper sends SIGTERM, and closes the input of the host.
    await expect(mesh.slice({ hosts: 1 }).where.with({ wait: true }).callOne()).rejects.toThrow(
      /is gone: the (?:process that has started the host has|host was) ended/,
    );
    expect(await mesh.slice({ hosts: 0 }).where.callOne()).toBeDefined();
  });

  test("has hosts that come back when they are lost", async () => {
    const job = makeJob();
    const { workers } = await job.resize({ workers: 2 });
    const restart = { policy: "on-failure", maxRestarts: 1 } as const;
    const mesh = workers.spawnProcs({}, { restart }).spawn("crew", crew.SteelWorker);
    const lost = mesh.slice({ hosts: 1 });
    const { pid } = await lost.where.callOne();
    for await (const { mesh: name, rank, line } of job.logs()) {
      const [, daemon] = /process (\d+), listens at/.exec(line) ?? [];
      if (daemon !== undefined && name === "workers" && rank === 1) process.kill(Number(daemon), "SIGKILL");
    }
    await until(
      async () =>
        (
          await lost.where
            .with({ wait: true })
            .callOne()
            .catch(() => ({ pid }))
        ).pid !== pid,
    );
    expect(faults).toEqual([]);
  });

  test("leaves its further hosts to the next run of the program, which resizes", async () => {
    const cache = newCache();
    const job = makeJob({ cache });
    await job.resize({ workers: 2 });
    const hosts = processesOf(job.applyId!).length;
    const options = { meshes: { workers: { hosts: 1 }, loaders: { hosts: 1 } }, cache, progress: "silent" };
    const code = `import { ProcessJob } from "viceroy/job";
const job = new ProcessJob(${JSON.stringify(options)});
const { workers } = await job.state();
const grown = await job.resize({ workers: 2 });
console.log(JSON.stringify([job.applyId, workers.extent, grown.workers.extent]));
process.exit();`;
    const next = spawnSync(process.execPath, ["--input-type=module", "-e", code], { cwd: project, encoding: "utf8" });
    expect(next.stderr).toBe("");
    expect(JSON.parse(next.stdout)).toEqual([job.applyId, { hosts: 1 }, { hosts: 2 }]);
    expect(processesOf(job.applyId!)).toHaveLength(hosts);
  });
});

test("two programs that resize a job at the same time get the same hosts", async () => {
  const cache = newCache();
  const job = makeJob({ cache });
  await job.state();
  const hosts = processesOf(job.applyId!).length;
  const options = { meshes: { workers: { hosts: 1 }, loaders: { hosts: 1 } }, cache, progress: "silent" };
  const code = `import { ProcessJob } from "viceroy/job";
const job = new ProcessJob(${JSON.stringify(options)});
await job.state();
process.stdin.once("data", async () => {
  const { workers } = await job.resize({ workers: 4 });
  console.log(workers.size);
  process.stdin.once("data", () => process.exit());
});
console.log("ready");`;
  const programs = [1, 2].map(() => spawn(process.execPath, ["--input-type=module", "-e", code], { cwd: project }));
  const printed = programs.map(() => "");
  programs.forEach((program, i) => {
    program.stdout.on("data", (chunk) => {
      printed[i] += chunk;
    });
  });
  await until(() => printed.every((text) => text === "ready\n"));
  for (const { stdin } of programs) stdin.write("resize\n");
  await until(() => printed.every((text) => text === "ready\n4\n"));
  // Two hosts have begun, and three have joined them.
  expect(processesOf(job.applyId!)).toHaveLength((hosts / 2) * 5);
  for (const { stdin } of programs) stdin.end("end\n");
});

describe("a job that cannot grow says why, and is as before", () => {
  test("because a host does not come up", async () => {
    const job = makeJob({ setup: 'test "$VICEROY_JOB_RANK" = 0 || { echo "no such module"; exit 3; }' });
    const { workers } = await job.state();
    const error = await job.resize({ workers: 2 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JobResizeError);
    expect((error as Error).message).toBe(
      'cannot resize job "viceroy": host workers[1] is gone: it ended with exit code 3; its output ends with: no such module',
    );
    expect((await job.state()).workers).toBe(workers);
    expect(await workers.spawnProcs().spawn("crew", crew.SteelWorker).echo.call("as before")).toBeDefined();
    expect(await ProcessJob.fromJSON(job.toJSON()!).find()).toBeDefined();
  });

  test("because it would get smaller than it was asked for", async () => {
    const job = makeJob({ meshes: { workers: { hosts: 2 }, loaders: { hosts: 1 } } });
    await job.state();
    await expect(job.resize({ workers: 1 })).rejects.toThrow(
      'cannot resize job "viceroy": a job keeps the first 2 hosts of mesh "workers", for which it was submitted; leave hosts with ' +
        "workers.resize({ hosts: 1 }), and they stay until the job ends",
    );
  });

  test("because it has no such mesh, or the size is no number", async () => {
    const job = makeJob();
    // @ts-expect-error the names of the meshes are part of the type
    await expect(job.resize({ trainers: 2 })).rejects.toThrow(
      'cannot resize job "viceroy": expected one of the options workers, loaders, got "trainers"',
    );
    await expect(job.resize({ workers: 1.5 })).rejects.toThrow(RangeError);
  });

  test("because its hosts are the machine of the program", async () => {
    const job = new LocalJob({ meshes: { workers: { hosts: 1 } }, cache: null });
    await expect(job.resize({ workers: 2 })).rejects.toThrow(
      'cannot resize job "viceroy": a job of local gets no further hosts while it runs; submit another job for them, with a ' +
        "cache of its own, and use its meshes beside those of this one",
    );
    await job.kill();
  });
});
