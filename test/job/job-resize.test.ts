/** Tests of jobs that get further hosts while they run: real keepers and daemons. */
import { spawnSync } from "node:child_process";
import { JobResizeError, LocalJob, ProcessJob } from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew, project } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { until } from "../proc/until.js";
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

  test("because it would get smaller", async () => {
    const job = makeJob({ meshes: { workers: { hosts: 2 }, loaders: { hosts: 1 } } });
    await job.state();
    await expect(job.resize({ workers: 1 })).rejects.toThrow(
      'cannot resize job "viceroy": mesh "workers" has 2 hosts, and a job gives none back; leave hosts with ' +
        "workers.resize({ hosts: 1 }); they stay until the job ends",
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
