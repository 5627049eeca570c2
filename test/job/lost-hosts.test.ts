/** Tests of hosts of a job that are lost and come back: real keepers and daemons, which are killed. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SupervisionError } from "viceroy";
import { type JobEvent, ProcessJob } from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { newCache, startProgram } from "./job-program.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const jobs: ProcessJob<string>[] = [];
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
});

type Options = ConstructorParameters<typeof ProcessJob<"workers">>[0];

function makeJob(options: Partial<Options> = {}): ProcessJob<"workers"> {
  const job = new ProcessJob({ meshes: { workers: { hosts: 2 } }, cache: null, progress: "silent", ...options });
  jobs.push(job as unknown as ProcessJob<string>);
  return job;
}

/** Returns the daemon of a host that has started last, as its log tells. */
async function daemonOf(job: ProcessJob<string>, host: number): Promise<number> {
  let found = 0;
  for await (const { rank, line } of job.logs()) {
    const [, pid] = /process (\d+), listens at/.exec(line) ?? [];
    if (pid !== undefined && rank === host) found = Number(pid);
  }
  return found;
}

async function killHost(job: ProcessJob<string>, host: number, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  process.kill(await daemonOf(job, host), signal);
}

/** Collects the events of a job as text: `host-lost workers[1]`. */
function eventsOf(job: ProcessJob<string>): string[] {
  const seen: string[] = [];
  const add = ({ kind, mesh, rank }: JobEvent) => seen.push(mesh === undefined ? kind : `${kind} ${mesh}[${rank}]`);
  void (async () => {
    for await (const event of job.watch()) add(event);
  })();
  return seen;
}

async function failureOf(promise: PromiseLike<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error("expected a rejection");
    },
    (error: Error) => error,
  );
}

const once = { policy: "on-failure", maxRestarts: 1, within: 600_000, backoff: 0 } as const;

describe("a host that was killed comes back at its rank", () => {
  test("its ranks wait for it without using up restarts, and the others go on", async () => {
    const job = makeJob();
    const { workers } = await job.state();
    const mesh = workers.spawnProcs({ gpus: 2 }, { restart: once }).spawn("crew", crew.SteelWorker);
    const before = [...(await mesh.where.call()).values()].map(({ pid }) => pid);
    const seen = eventsOf(job);
    const lost = mesh.slice({ hosts: 1 });
    for (let time = 1; time <= 3; time++) {
      await killHost(job, 1);
      await until(() => seen.filter((event) => event === "host-lost workers[1]").length === time);
      expect([...(await mesh.slice({ hosts: 0 }).where.call()).values()].map(({ pid }) => pid)).toEqual(
        before.slice(0, 2),
      );
      const after = [...(await lost.where.with({ wait: true }).call()).values()].map(({ pid }) => pid);
      expect(after.every((pid) => !before.includes(pid))).toBe(true);
      await until(() => seen.filter((event) => event === "host-replaced workers[1]").length === time);
    }
    // The restart that the policy allows is still there.
    const last = lost.slice({ gpus: 0 });
    const { pid } = await last.where.callOne();
    process.kill(pid, "SIGKILL");
    await until(
      async () =>
        (
          await last.where
            .with({ wait: true })
            .callOne()
            .catch(() => ({ pid }))
        ).pid !== pid,
    );
    expect(faults).toEqual([]);
  });

  test("two at the same time", async () => {
    const job = makeJob();
    const { workers } = await job.state();
    const mesh = workers.spawnProcs({}, { restart: once }).spawn("crew", crew.SteelWorker);
    const before = [...(await mesh.where.call()).values()].map(({ pid }) => pid);
    const seen = eventsOf(job);
    await Promise.all([killHost(job, 0), killHost(job, 1)]);
    // A call that is sent to a process before its end is noticed fails with it.
    await until(() => [0, 1].every((rank) => seen.includes(`host-lost workers[${rank}]`)));
    await until(() => before.every(gone));
    const after = [...(await mesh.where.with({ wait: true }).call()).values()].map(({ pid }) => pid);
    expect(after.some((pid) => before.includes(pid))).toBe(false);
    expect(faults).toEqual([]);
  });

  test("a mesh without a policy fails at once, and a new one can be spawned on the host that is back", async () => {
    const job = makeJob();
    const { workers } = await job.state();
    const procs = workers.spawnProcs({});
    const mesh = procs.spawn("crew", crew.SteelWorker);
    await mesh.where.call();
    const seen = eventsOf(job);
    await killHost(job, 1);
    await until(() => faults.length === 1);
    expect(faults[0]!.report()).toMatch(/mesh "procs" failed at rank 1: host unix:\/\/\S+ is gone: /);
    expect(await failureOf(mesh.where.with({ wait: true }).call())).toBeInstanceOf(SupervisionError);
    await until(() => seen.includes("host-replaced workers[1]"));
    const next = workers.spawnProcs({}).spawn("crew", crew.SteelWorker);
    expect([...(await next.where.call()).values()]).toHaveLength(2);
  });

  test("a mesh that is spawned while its host is lost waits for it", async () => {
    const job = makeJob();
    const { workers } = await job.state();
    await workers.spawnProcs({}).ready;
    await killHost(job, 1);
    await until(() => faults.length === 1);
    const procs = workers.spawnProcs({}, { restart: once });
    const mesh = procs.spawn("crew", crew.SteelWorker);
    await procs.ready;
    expect([...(await mesh.where.with({ wait: true }).call()).values()]).toHaveLength(2);
  });

  test("what it had started is ended before, also what ignores SIGTERM in a session of its own", async () => {
    const folder = mkdtempSync(join(tmpdir(), "vc-"));
    const setup = `setsid sh -c 'trap "" TERM HUP; echo $$ >> ${folder}/pids-$VICEROY_JOB_RANK; while :; do sleep 1; done' > /dev/null 2>&1 &`;
    const job = makeJob({ setup });
    const { workers } = await job.state();
    const mesh = workers.spawnProcs({}, { restart: once }).spawn("crew", crew.SteelWorker);
    await mesh.where.call();
    const started = (rank: number) =>
      readFileSync(join(folder, `pids-${rank}`), "utf8")
        .trim()
        .split("\n")
        .map(Number);
    const [first] = started(1);
    const [other] = started(0);
    await killHost(job, 1);
    await until(() => gone(first!));
    await mesh.slice({ hosts: 1 }).where.with({ wait: true }).call();
    expect(started(1)).toHaveLength(2);
    expect(gone(other!)).toBe(false);
    rmSync(folder, { recursive: true });
  });
});

describe("a host that does not come back", () => {
  test("was ended by somebody, with SIGTERM", async () => {
    const job = makeJob();
    const { workers } = await job.state();
    const mesh = workers.spawnProcs({}, { restart: once }).spawn("crew", crew.SteelWorker);
    await mesh.where.call();
    const seen = eventsOf(job);
    await killHost(job, 1, "SIGTERM");
    await until(() => faults.length === 1);
    expect(faults[0]!.report()).toMatch(/host workers\[1\] is gone: it ended with exit code 0; its output ends with: /);
    expect(seen).not.toContain("host-replaced workers[1]");
  });

  test("is not up in time", async () => {
    const folder = mkdtempSync(join(tmpdir(), "vc-"));
    const setup = `while [ -e ${folder}/closed ]; do sleep 0.1; done`;
    const job = makeJob({ setup, hostTimeout: { lost: "1500ms" } });
    const { workers } = await job.state();
    const mesh = workers.spawnProcs({}, { restart: once }).spawn("crew", crew.SteelWorker);
    await mesh.where.call();
    writeFileSync(join(folder, "closed"), "");
    await killHost(job, 1);
    await until(() => faults.length === 1);
    expect(faults[0]!.report()).toMatch(/it did not come back within 1500 ms \(hostTimeout\)/);
    expect(await failureOf(mesh.slice({ hosts: 1 }).where.with({ wait: true }).call())).toBeInstanceOf(
      SupervisionError,
    );
    expect([...(await mesh.slice({ hosts: 0 }).where.call()).values()]).toHaveLength(1);
    rmSync(folder, { recursive: true });
  });

  test("because the job does not replace hosts, with a hostTimeout of 0", async () => {
    const job = makeJob({ hostTimeout: 0 });
    const { workers } = await job.state();
    const seen = eventsOf(job);
    const mesh = workers.spawnProcs({}, { restart: { policy: "never" } }).spawn("crew", crew.SteelWorker);
    await mesh.where.call();
    await killHost(job, 1);
    await until(() => faults.length === 1);
    await until(() => seen.includes("host-lost workers[1]"));
    expect(await daemonOf(job, 1)).toSatisfy(gone);
  });
});

describe("the driver ends while a host is lost", () => {
  test("the keeper goes on, and the next driver gets all hosts", async () => {
    const cache = newCache();
    const folder = mkdtempSync(join(tmpdir(), "vc-"));
    const program = startProgram(cache, "wait");
    const { applyId } = await program.crew;
    const job = makeOther(cache);
    await job.apply();
    expect(job.applyId).toBe(applyId);
    await killHost(job as unknown as ProcessJob<string>, 1);
    program.child.kill("SIGKILL");
    const { workers } = await job.state();
    const mesh = workers.spawnProcs({}).spawn("crew", crew.SteelWorker);
    expect([...(await mesh.where.call()).values()]).toHaveLength(2);
    expect(existsSync(cache)).toBe(true);
    rmSync(folder, { recursive: true });
  });
});

/** Makes a job like that of the program (test/fixtures/crew/programs/on-a-job.ts). */
function makeOther(cache: string): ProcessJob<"workers" | "loaders"> {
  const meshes = { workers: { hosts: 2 }, loaders: { hosts: 1 } };
  const job = new ProcessJob({ meshes, cache, progress: "silent" });
  jobs.push(job as unknown as ProcessJob<string>);
  return job;
}
