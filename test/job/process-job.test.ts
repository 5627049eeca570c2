/** Tests of jobs whose hosts are processes on this machine: real keepers, hosts and drivers, which are killed. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  JobCacheError,
  type JobEvent,
  JobLostError,
  JobStartError,
  JobStartTimeoutError,
  NoSuchMeshError,
  ProcessJob,
} from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { newCache, processesOf, startProgram } from "./job-program.js";

let crew: Crew;
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const jobs: ProcessJob<string>[] = [];
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
});

type Options = ConstructorParameters<typeof ProcessJob<"workers" | "loaders">>[0];

/** Makes a job that is killed after the test. */
function makeJob(options: Partial<Options> = {}): ProcessJob<"workers" | "loaders"> {
  const meshes = { workers: { hosts: 2 }, loaders: { hosts: 1 } };
  const job = new ProcessJob({ meshes, cache: null, progress: "silent", ...options });
  jobs.push(job as unknown as ProcessJob<string>);
  return job;
}

/** Returns the process ids of the daemons of a job: each has printed its own. */
async function hostPids(job: ProcessJob<string>): Promise<number[]> {
  const pids: number[] = [];
  for await (const { line } of job.logs()) {
    const [, pid] = /process (\d+), listens at/.exec(line) ?? [];
    if (pid !== undefined) pids.push(Number(pid));
  }
  return pids;
}

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error("expected a rejection");
    },
    (error: Error) => error,
  );
}

describe("a job gives host meshes by name", () => {
  test("actors run on all hosts of a mesh", async () => {
    const job = makeJob();
    expect(job.active).toBe(false);
    const { workers, loaders } = await job.state();
    expect(job.active).toBe(true);
    expect([workers.extent, loaders.extent]).toEqual([{ hosts: 2 }, { hosts: 1 }]);
    const places = await workers.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker).where.call();
    expect(new Set([...places.values()].map(({ pid }) => pid)).size).toBe(4);
    const again = await job.state();
    expect(again.workers).toBe(workers);
  });

  test("a name that no mesh has is an error that lists the names", async () => {
    const state = await makeJob().state();
    // @ts-expect-error the names of the meshes are part of the type
    expect(() => state.trainers).toThrow(NoSuchMeshError);
    expect(() => Reflect.get(state, "trainers")).toThrow(
      'job "viceroy" has no mesh "trainers"; it has "workers", "loaders"',
    );
    // `await` and serializers read names that no mesh has.
    expect(await Promise.resolve(state)).toBe(state);
    expect(Object.keys(state)).toEqual(["workers", "loaders"]);
  });

  test("concurrent calls submit a job once", async () => {
    const job = makeJob();
    const [first, , second] = await Promise.all([job.state(), job.apply(), job.state()]);
    expect(first.workers).toBe(second.workers);
    expect(await hostPids(job)).toHaveLength(3);
  });

  test("the environment of the job reaches its processes, and lines of the shell run first", async () => {
    const job = makeJob({ env: { GIVEN: "by the job" }, setup: "export PREPARED=yes" });
    const { loaders } = await job.state();
    const worker = loaders.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
    expect(await worker.env.callOne("GIVEN")).toBe("by the job");
    expect(await worker.env.callOne("PREPARED")).toBe("yes");
    expect(await worker.env.callOne("VICEROY_JOB_MESH")).toBe("loaders");
  });
});

describe("everything ends with the job", () => {
  test("kill ends processes that ignore SIGTERM in sessions of their own, and removes the sockets", async () => {
    const setup = `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' > /dev/null 2>&1 &`;
    const job = makeJob({ setup });
    const { workers } = await job.state();
    await workers.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker).where.call();
    const applyId = job.applyId!;
    // A shell of setup may be between two programs.
    await until(() => processesOf(applyId).length > 3 + 3 + 4);
    await job.kill();
    expect(processesOf(applyId)).toEqual([]);
    expect(job.active).toBe(false);
    expect(existsSync(join(tmpdir(), `vj-${applyId.slice(0, 13)}`))).toBe(false);
    await job.kill();
  });

  test("kill does not wait for a host that does not answer", async () => {
    const job = makeJob({ attach: { silence: 600_000, keepAlive: 600_000 } });
    const { workers } = await job.state();
    await workers.spawnProcs().ready;
    const { applyId } = job;
    for (const pid of await hostPids(job)) process.kill(pid, "SIGSTOP");
    await job.kill();
    expect(processesOf(applyId!)).toEqual([]);
  });

  test("a killed job can be submitted again", async () => {
    const job = makeJob();
    await job.apply();
    const first = job.applyId;
    await job.kill();
    const { workers } = await job.state();
    expect(job.applyId).not.toBe(first);
    expect(await workers.spawnProcs().spawn("workers", crew.SteelWorker).echo.call("again")).toBeDefined();
  });

  test("without a cache, a job ends with its driver, also if that was killed", async () => {
    const program = startProgram("none", "wait");
    const { applyId, folder } = await program.crew;
    expect(processesOf(applyId).length).toBeGreaterThan(5);
    program.child.kill("SIGKILL");
    await until(() => processesOf(applyId).length === 0);
    const places = [folder, join(tmpdir(), `vj-${applyId.slice(0, 13)}`)];
    await until(() => !places.some((place) => existsSync(place)));
  });

  test("with a cache, a job ends when it had no driver for its idle time", async () => {
    const program = startProgram(newCache(), "wait", "700ms");
    const { applyId } = await program.crew;
    program.child.kill("SIGKILL");
    await until(() => processesOf(applyId).length === 0);
  });

  test("the hosts end with their keeper", async () => {
    const job = makeJob({ cache: newCache() });
    await job.state();
    const applyId = job.applyId!;
    const keeper = Number(
      readFileSync(`/proc/${(await hostPids(job))[0]}/stat`, "latin1")
        .split(") ")[1]!
        .split(" ")[1],
    );
    process.kill(keeper, "SIGKILL");
    await until(() => processesOf(applyId).length === 0);
    await until(() => !job.active);
  });
});

describe("the next run of a program uses the hosts of the last one", () => {
  test("after the driver has ended, and after it was killed", async () => {
    const cache = newCache();
    const first = startProgram(cache, "leave");
    const { applyId, pids } = await first.crew;
    expect(await first.exited).toBe(0);
    await until(() => pids.every(gone));

    const second = startProgram(cache, "wait");
    expect((await second.crew).applyId).toBe(applyId);
    second.child.kill("SIGKILL");
    await until(() => second.child.signalCode !== null);

    const job = makeJob({ cache });
    await job.state();
    expect(job.applyId).toBe(applyId);
    await job.kill();
    expect(existsSync(cache)).toBe(false);
    expect(processesOf(applyId)).toEqual([]);
  });

  test("two drivers that start together use one allocation", async () => {
    const cache = newCache();
    const programs = [startProgram(cache, "wait"), startProgram(cache, "wait")];
    const crews = await Promise.all(programs.map(({ crew }) => crew));
    expect(crews[0]!.applyId).toBe(crews[1]!.applyId);
    for (const { child } of programs) child.kill("SIGKILL");
    await makeJob({ cache }).kill();
    expect(processesOf(crews[0]!.applyId)).toEqual([]);
  });

  test("only the user can read the cache", async () => {
    const cache = newCache();
    await makeJob({ cache }).apply();
    expect(statSync(cache).mode & 0o777).toBe(0o600);
  });

  test("a job that asks for something else ends what the cache has", async () => {
    const cache = newCache();
    const old = makeJob({ cache });
    await old.apply();
    const { applyId } = old;
    const job = makeJob({ cache, meshes: { workers: { hosts: 1 }, loaders: { hosts: 1 } } });
    await job.apply();
    expect(job.applyId).not.toBe(applyId);
    expect(processesOf(applyId!)).toEqual([]);
    await until(() => !old.active);
  });

  test("what a driver had submitted when it was killed is found by the next one", async () => {
    const cache = newCache();
    const first = makeJob({ cache });
    await first.apply();
    // This is the file that a driver leaves which is killed after the submission, and before it could record it.
    const record = JSON.parse(readFileSync(cache, "utf8"));
    writeFileSync(cache, JSON.stringify({ ...record, allocation: null }));
    const next = makeJob({ cache });
    await next.state();
    expect(next.applyId).toBe(first.applyId);
    expect(JSON.parse(readFileSync(cache, "utf8"))).toEqual(record);
  });

  test("a driver that was killed before it submitted anything leaves nothing", async () => {
    const cache = newCache();
    const first = makeJob({ cache });
    await first.apply();
    const record = JSON.parse(readFileSync(cache, "utf8"));
    const { applyId } = first;
    await first.kill();
    writeFileSync(cache, JSON.stringify({ ...record, allocation: null }));
    const next = makeJob({ cache });
    await next.state();
    expect(next.applyId).not.toBe(applyId);
  });

  test("a job of a record uses the same run in another program", async () => {
    const job = makeJob();
    await job.apply();
    const other = ProcessJob.fromJSON(JSON.parse(JSON.stringify(job)));
    const { workers } = await other.state();
    const { applyId } = job;
    expect(other.applyId).toBe(applyId);
    expect([...(await workers!.spawnProcs().spawn("workers", crew.SteelWorker).where.call()).values()]).toHaveLength(2);
    await job.kill();
    await until(() => !other.active);
    const error = await failureOf(other.state());
    expect(error).toBeInstanceOf(JobLostError);
    expect(error.message).toBe(`job "viceroy" is gone: nothing runs under its id ${applyId} any more`);
  });
});

describe("a job of a record", () => {
  test("is killed without having been attached", async () => {
    const job = makeJob();
    await job.apply();
    const { applyId } = job;
    const record = JSON.parse(JSON.stringify(job));
    await ProcessJob.fromJSON(record).kill();
    expect(processesOf(applyId!)).toEqual([]);
    await until(() => !job.active);
  });
});

describe("a cache that cannot be used is an error, and the file stays as it is", () => {
  const advice = "remove the file if no job of it runs any more, or name another file with the option cache";
  test.each([
    ["half written", '{"version": 1, "viceroy"', /^it is not JSON, or was not written completely: /],
    ["foreign", "[1, 2]", /^it is not the record of a job;/],
    ["incomplete", '{"version": 1}', /^it is not the record of a job: expected viceroy as a string;/],
    [
      "newer",
      '{"version": 2, "viceroy": "9.1.0"}',
      /^Viceroy 9\.1\.0 has written it, which is newer than this one; use that version, or another cache file;/,
    ],
  ])("%s", async (_, text, reason) => {
    const cache = newCache();
    writeFileSync(cache, text);
    const error = await failureOf(makeJob({ cache }).state());
    expect(error).toBeInstanceOf(JobCacheError);
    expect((error as JobCacheError).file).toBe(cache);
    const start = `cannot use the job cache ${cache}: `;
    expect(error.message.startsWith(start)).toBe(true);
    expect(error.message.slice(start.length)).toMatch(reason);
    expect(error.message.endsWith(advice)).toBe(true);
    expect(readFileSync(cache, "utf8")).toBe(text);
    await expect(makeJob({ cache }).kill()).rejects.toThrow(JobCacheError);
    jobs.length = 0;
  });

  test("a provider that this version does not know", async () => {
    const cache = newCache();
    const first = makeJob({ cache });
    await first.apply();
    const record = JSON.parse(readFileSync(cache, "utf8"));
    await first.kill();
    const text = JSON.stringify({ ...record, provider: "moon" });
    writeFileSync(cache, text);
    const error = await failureOf(makeJob({ cache }).state());
    expect(error.message).toBe(
      `cannot use the job cache ${cache}: Viceroy ${record.viceroy} has written it for the provider "moon", which is not known here`,
    );
    expect(readFileSync(cache, "utf8")).toBe(text);
  });

  test("a folder in which no file can be written", async () => {
    const cache = "/dev/null/job_state.json";
    const error = await failureOf(makeJob({ cache }).state());
    expect(error).toBeInstanceOf(JobCacheError);
    expect(error.message).toMatch(/^cannot use the job cache \/dev\/null\/job_state\.json: EEXIST/);
    jobs.length = 0;
  });
});

describe("a host that does not come up", () => {
  test("is named, with the end of its output, and nothing is left", async () => {
    const cache = newCache();
    const setup = 'test "$VICEROY_JOB_RANK" = 0 || { echo "no such module"; exit 3; }';
    const job = makeJob({ cache, setup });
    const error = await failureOf(job.state());
    expect(error).toBeInstanceOf(JobStartError);
    expect(error.message).toBe(
      'cannot start job "viceroy": host workers[1] is gone: it ended with exit code 3; its output ends with: no such module',
    );
    expect(job.active).toBe(false);
    expect(existsSync(cache)).toBe(false);
  });

  test("in time", async () => {
    const job = makeJob({ setup: 'test "$VICEROY_JOB_MESH" = workers || sleep 1000', hostTimeout: "3s" });
    const applying = job.apply().then(() => job.applyId!);
    const error = await failureOf(job.state());
    expect(error).toBeInstanceOf(JobStartTimeoutError);
    expect((error as JobStartTimeoutError).missing).toContain("loaders[0]");
    expect(error.message).toMatch(
      /^cannot start job "viceroy": .*loaders\[0\] did not come up within 3000 ms \(hostTimeout\)$/,
    );
    expect(processesOf(await applying)).toEqual([]);
  });

  test("because there is no such Node.js", async () => {
    const error = await failureOf(makeJob({ node: "/no/node" }).state());
    expect(error.message).toMatch(
      /^cannot start job "viceroy": (?:all its hosts have ended; )?host workers\[\d\] is gone: it could not be started: spawn \/no\/node ENOENT$/,
    );
  });
});

describe("events", () => {
  test("tell of each host, of a host that ends, and of the end", async () => {
    const job = makeJob();
    const seen: JobEvent[] = [];
    await job.apply();
    const reading = (async () => {
      for await (const event of job.watch()) seen.push(event);
    })();
    await job.state();
    const [pid] = await hostPids(job);
    process.kill(pid!, "SIGKILL");
    await until(() => seen.some(({ kind }) => kind === "host-lost"));
    await job.kill();
    await reading;
    const kinds = seen.map(({ kind, mesh, rank }) => (mesh === undefined ? kind : `${kind} ${mesh}[${rank}]`));
    expect(kinds.slice(0, 3).sort()).toEqual(["running loaders[0]", "running workers[0]", "running workers[1]"]);
    expect(kinds.slice(3)).toEqual(["running", "host-lost workers[0]", "ended"]);
    expect(seen.find(({ kind }) => kind === "host-lost")?.reason).toMatch(
      /^host workers\[0\] is gone: it was ended by SIGKILL; its output ends with: viceroy host /,
    );
    expect(seen.at(-1)?.reason).toBe("it was killed");
  });
});

describe("logs", () => {
  test("have what processes print, also after the end", async () => {
    const cache = newCache();
    const job = makeJob({ cache });
    const { loaders } = await job.state();
    const worker = loaders.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
    const followed: string[] = [];
    const reading = (async () => {
      for await (const { mesh, rank, line } of job.logs({ follow: true })) followed.push(`${mesh}-${rank} ${line}`);
    })();
    await worker.print.callOne("first line\nsecond");
    await worker.print.callOne(" line\n");
    const wanted = ["loaders-0 [hosts=0] first line", "loaders-0 [hosts=0] second line"];
    await until(() => wanted.every((line) => followed.includes(line)));
    const record = job.toJSON()!;
    await job.kill();
    await reading;
    const after: string[] = [];
    for await (const { mesh, rank, line } of ProcessJob.fromJSON(record).logs()) after.push(`${mesh}-${rank} ${line}`);
    expect(after.filter((line) => line.startsWith("loaders-0 [hosts=0]"))).toEqual(wanted);
  });
});

describe("bad options", () => {
  test.each([
    [{ meshes: {} }, "cannot make a job: expected at least one mesh, got an object"],
    [
      { meshes: { w: { hosts: 0 } } },
      'cannot make a job: expected hosts of mesh "w" as a whole number from 1 to 100000, got 0',
    ],
    [
      { meshes: { w: { hosts: 1.5 } } },
      'cannot make a job: expected hosts of mesh "w" as a whole number from 1 to 100000, got 1.5',
    ],
    [
      { meshes: { "a b": { hosts: 1 } } },
      'cannot make a job: expected names of meshes that consist of up to 64 letters, digits and _, other than those of every object, got "a b"',
    ],
    [
      { meshes: { w: { hosts: 1, gpu: 1 } } },
      'cannot make mesh "w" of a job: expected one of the options hosts, cpus, gpus, memory, got "gpu"',
    ],
    [
      { meshes: { w: { hosts: 1, memory: "16 gigs" } } },
      'cannot make a job: expected memory of mesh "w" as bytes or as text such as "512MiB", "16GiB", got "16 gigs"',
    ],
    [
      { idle: "soon" },
      'cannot make a job: expected idle as milliseconds or as text such as "90s", "15m", "4h", got "soon"',
    ],
    [
      { attach: { timeot: 1 } },
      'cannot make a job with attach: expected one of the options timeout, silence, keepAlive, got "timeot"',
    ],
    [{ name: "a/b" }, 'cannot make a job: expected name as 1 to 64 letters, digits, and . _ -, got "a/b"'],
    [{ cache: 1 }, "cannot make a job: expected cache as a path or null, got 1"],
    [{ env: { A: 1 } }, "cannot make a job: expected env as an object of text, got an object"],
    [{ partition: "gpu" }, /^cannot make a job: expected one of the options meshes, env, name, .*, got "partition"$/],
  ])("%j", (options, message) => {
    const make = () => new ProcessJob({ meshes: { w: { hosts: 1 } }, ...(options as object) });
    expect(make).toThrow(message);
  });
});
