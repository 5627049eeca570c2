/** Tests of scripts of one process per rank: real hosts and real processes, which fail and are killed. */
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JobLostError, JobStartError, NoSuchMeshError, ProcessJob, type SpmdOptions } from "viceroy/job";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { loadCrew, project } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { gone, until } from "../../proc/until.js";
import { newCache } from "../job-program.js";

collectUnhandledFaults();

const worker = fileURLToPath(new URL("worker.mjs", import.meta.url));
const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "viceroy-spmd-"));
const devices = process.env["CUDA_VISIBLE_DEVICES"];
let files = 0;

let job: ProcessJob<"workers">;
beforeAll(async () => {
  await loadCrew();
  process.env["CUDA_VISIBLE_DEVICES"] = "4,5,6,7";
  job = new ProcessJob({ meshes: { workers: { hosts: 2 } }, cache: null, progress: "silent" });
  await job.state();
});
afterAll(async () => {
  if (devices === undefined) delete process.env["CUDA_VISIBLE_DEVICES"];
  else process.env["CUDA_VISIBLE_DEVICES"] = devices;
  await job.kill();
});

const started: { kill(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((run) => run.kill()));
});

const newFile = () => join(folder, `${files++}`);

/** Starts the workers on a job. */
async function start(what: string, options: SpmdOptions<"workers">, file = newFile(), on = job) {
  const lines: { readonly rank: number; readonly line: string }[] = [];
  const stdio = (line: string, { rank }: { readonly rank: number }) => void lines.push({ rank, line });
  const run = await on.spmd({ stdio, ...options }, [process.execPath, worker, what, file]);
  started.push(run);
  return { run, lines, file };
}

/** Waits until the workers have noted their processes. @returns the process ids by rank */
async function noted(file: string, count: number): Promise<Map<number, readonly number[]>> {
  const read = () => (existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []);
  await until(() => read().length === count);
  return new Map(read().map((line) => [Number(line.split(" ")[0]), line.split(" ").slice(1).map(Number)]));
}

/** Kills the daemon of the second host. */
async function killHost(of: ProcessJob<"workers">): Promise<void> {
  let daemon = 0;
  for await (const { rank, line } of of.logs()) {
    const [, pid] = /process (\d+), listens at/.exec(line) ?? [];
    if (pid !== undefined && rank === 1) daemon = Number(pid);
  }
  process.kill(daemon, "SIGKILL");
}

describe("processes know their places", () => {
  test("each rank has the variables of launchers, and its output has its rank", async () => {
    const { run, lines } = await start("environment", { procs: 2, env: { COLOR: "red" }, cwd: folder });
    expect(run.worldSize).toBe(4);
    expect(await run.exited()).toBe(0);
    expect(run.failures).toEqual([]);
    const found = lines.sort((a, b) => a.rank - b.rank).map(({ rank, line }) => ({ rank, ...JSON.parse(line) }));
    const port = found[0].MASTER_PORT;
    expect(Number(port)).toBeGreaterThan(0);
    expect(found).toEqual(
      [0, 1, 2, 3].map((rank) => ({
        rank,
        RANK: `${rank}`,
        WORLD_SIZE: "4",
        LOCAL_RANK: `${rank % 2}`,
        LOCAL_WORLD_SIZE: "2",
        GROUP_RANK: `${Math.floor(rank / 2)}`,
        GROUP_WORLD_SIZE: "2",
        MASTER_ADDR: "127.0.0.1",
        MASTER_PORT: port,
        CUDA_VISIBLE_DEVICES: "4,5,6,7",
        COLOR: "red",
        cwd: folder,
      })),
    );
  });

  test("rank 0 can listen where the processes are to meet", async () => {
    const { run, lines } = await start("listen", {});
    expect(await run.exited()).toBe(0);
    expect(lines).toEqual([{ rank: 0, line: "rank 0 listens" }]);
  });

  test("the user may choose where the processes meet, but not their ranks", async () => {
    const env = { MASTER_ADDR: "10.1.2.3", MASTER_PORT: "99", RANK: "7" };
    const { run, lines } = await start("environment", { env });
    await run.exited();
    const first = JSON.parse(lines.find(({ rank }) => rank === 0)!.line);
    expect(first).toMatchObject({ MASTER_ADDR: "10.1.2.3", MASTER_PORT: "99", RANK: "0" });
  });

  test("each process gets GPUs of its own if it asks for a number", async () => {
    const { run, lines } = await start("environment", { procs: 2, gpusPerProc: 2 });
    expect(await run.exited()).toBe(0);
    const seen = lines.sort((a, b) => a.rank - b.rank).map(({ line }) => JSON.parse(line).CUDA_VISIBLE_DEVICES);
    expect(seen).toEqual(["4,5", "6,7", "4,5", "6,7"]);
  });

  test("more GPUs than a host has are an error that says which it has", async () => {
    const { run } = await start("environment", { procs: 3, gpusPerProc: 2 });
    const error = await run.exited().catch((failure: Error) => failure);
    expect(error).toBeInstanceOf(JobStartError);
    expect((error as Error).message.replace(/rank \d on workers\[\d\]/, "RANK")).toBe(
      'cannot start job "viceroy": RANK could not be started: the command needs GPUs 4 to 5 of this host, ' +
        "which has 4 (CUDA_VISIBLE_DEVICES=4,5,6,7)",
    );
  });

  test("a line that never ends is passed on in pieces", async () => {
    const { run, lines } = await start("long", {});
    await run.exited();
    const first = lines.filter(({ rank }) => rank === 0).map(({ line }) => line);
    expect(first.join("")).toBe("x".repeat(200_000));
    expect(first.length).toBeGreaterThan(1);
  });
});

describe("all processes end together", () => {
  test("when one fails, the others are ended, and its exit code is that of the run", async () => {
    const { run, file } = await start("fail", { procs: 2 });
    const pids = await noted(file, 4);
    expect(await run.exited()).toBe(7);
    expect(run.failures).toEqual([
      { rank: 1, host: "workers[0]", exitCode: 7, reason: "rank 1 on workers[0] ended with exit code 7" },
    ]);
    for (const [pid] of pids.values()) expect(gone(pid!)).toBe(true);
  });

  test("what a killed process has started ends with it, although it holds its outputs open", async () => {
    const { run, file } = await start("parent", { procs: 1 });
    const pids = await noted(file, 2);
    process.kill(pids.get(1)![0]!, "SIGKILL");
    expect(await run.exited()).toBe(137);
    // What a process has started is ended with it, and can take a moment longer.
    for (const pid of [...pids.values()].flat()) await until(() => gone(pid));
  });

  test("kill ends processes that ignore SIGTERM after the grace", async () => {
    const { run, file } = await start("stubborn", { procs: 2, grace: 100 });
    const pids = await noted(file, 4);
    await run.kill();
    expect(await run.exited()).toBe(143);
    expect(run.failures).toEqual([]);
    for (const [pid] of pids.values()) expect(gone(pid!)).toBe(true);
  });

  test("processes end with a driver that is killed", async () => {
    const file = newFile();
    const argv = [fileURLToPath(new URL("spmd-driver.mjs", import.meta.url)), worker, file];
    const driver = spawn(process.execPath, argv, { stdio: "inherit" });
    const pids = await noted(file, 4);
    driver.kill("SIGKILL");
    for (const [pid] of pids.values()) await until(() => gone(pid!));
  });

  test("a host that is killed takes its processes with it, and the run is lost", async () => {
    const other = new ProcessJob({ meshes: { workers: { hosts: 2 } }, cache: null, progress: "silent" });
    try {
      const { run, file } = await start("wait", { procs: 2 }, newFile(), other);
      const pids = await noted(file, 4);
      await killHost(other);
      const error = await run.exited().catch((failure: Error) => failure);
      expect(error).toBeInstanceOf(JobLostError);
      expect((error as Error).message).toMatch(/rank [23] on workers\[1\] is lost: /);
      for (const [pid] of pids.values()) await until(() => gone(pid!));
    } finally {
      await other.kill();
    }
  });
});

describe("a failed run starts again", () => {
  test("all processes start again, in the same allocation and at another port", async () => {
    const { applyId } = job;
    const { run, lines } = await start("once", { procs: 2, restart: { policy: "on-failure", backoff: 0 } });
    expect(await run.exited()).toBe(0);
    expect(run.failures.map(({ reason }) => reason)).toEqual(["rank 1 on workers[0] ended with exit code 3"]);
    const again = lines.filter(({ line }) => line.endsWith("again")).map(({ rank }) => rank);
    expect(again.sort()).toEqual([0, 1, 2, 3]);
    expect(job.applyId).toBe(applyId);
  });

  test("a run that fails again and again is given up after its restarts", async () => {
    const restart = { policy: "on-failure", maxRestarts: 2, backoff: 0 } as const;
    const failing = await job.spmd({ restart, stdio: "ignore" }, ["sh", "-c", 'test "$RANK" = 0 || exit 5; sleep 60']);
    expect(await failing.exited()).toBe(5);
    expect(failing.failures.map(({ rank, exitCode }) => [rank, exitCode])).toEqual([
      [1, 5],
      [1, 5],
      [1, 5],
    ]);
  });

  test("a host that is lost is waited for, and costs one restart", async () => {
    const file = newFile();
    const setup = `test ! -e ${file}.killed || sleep 2`;
    const options = { cache: null, progress: "silent", setup, hostTimeout: { lost: 60_000 } } as const;
    await using other = new ProcessJob({ meshes: { workers: { hosts: 2 } }, ...options });
    const restart = { policy: "on-failure", maxRestarts: 1, backoff: 0 } as const;
    const { run } = await start("wait", { restart }, file, other);
    await noted(file, 2);
    appendFileSync(`${file}.killed`, "");
    await killHost(other);
    const again = await Promise.race([noted(file, 4), run.exited()]);
    expect(again).toMatchObject({ size: 2 });
    expect(run.failures.map(({ rank, host }) => [rank, host])).toEqual([[1, "workers[1]"]]);
    await run.kill();
    expect(await run.exited()).toBe(143);
  });

  test("a host that does not come back is the end of the run, and the error says so", async () => {
    const file = newFile();
    const setup = `test ! -e ${file}.killed`;
    const options = { cache: null, progress: "silent", setup, hostTimeout: { lost: 2000 } } as const;
    await using other = new ProcessJob({ meshes: { workers: { hosts: 2 } }, ...options });
    const { run } = await start("wait", { restart: { policy: "on-failure" } }, file, other);
    await noted(file, 2);
    appendFileSync(`${file}.killed`, "");
    await killHost(other);
    const error = await run.exited().catch((failure: Error) => failure);
    expect(error).toBeInstanceOf(JobLostError);
    expect((error as Error).message).toMatch(/^job "viceroy" is gone: workers\[1\] is lost: .*did not come back/);
  });

  test("a program that does not exist is not started again", async () => {
    const restart = { policy: "on-failure", backoff: 0 } as const;
    const run = await job.spmd({ restart }, ["no-such-program"]);
    const error = await run.exited().catch((failure: Error) => failure);
    expect(error).toBeInstanceOf(JobStartError);
    expect((error as Error).message).toMatch(
      /^cannot start job "viceroy": rank [01] on workers\[[01]\] could not be started: spawn no-such-program ENOENT$/,
    );
    expect(run.failures).toHaveLength(1);
  });

  test("a working directory that a host does not have is named", async () => {
    const run = await job.spmd({ cwd: "/no/such/folder" }, ["true"]);
    await expect(run.exited()).rejects.toThrow(
      /could not be started: the working directory \/no\/such\/folder does not exist on this host$/,
    );
  });
});

describe("what is wrong is said before anything starts", () => {
  const refusal = (options: object, command: unknown = ["true"]) =>
    job.spmd(options as SpmdOptions<"workers">, command as string[]).then(
      () => "nothing was refused",
      (error: Error) => `${error.constructor.name}: ${error.message}`,
    );
  const failed = "cannot start the processes of a job";

  test.each([
    [{ procs: 0 }, `RangeError: ${failed}: expected procs as a whole number from 1 to 1024, got 0`],
    [{ gpusPerProc: -1 }, `RangeError: ${failed}: expected gpusPerProc as a whole number from 0 to 1024, got -1`],
    [{ grace: Number.NaN }, `RangeError: ${failed}: expected grace as a whole number from 0 to 600000, got NaN`],
    [{ stdio: "inherit" }, `TypeError: ${failed}: expected stdio as "prefix", "ignore" or a function, got "inherit"`],
    [{ prox: 2 }, /^TypeError: cannot start the processes of a job: .*prox/],
    [{ restart: { from: "checkpoint" } }, /^TypeError: cannot start the processes of a job: invalid restart.*from/],
    [{ restart: { maxRestarts: 1 } }, /^TypeError: cannot start the processes of a job: expected the policy/],
    [{ env: { A: 1 } }, /^TypeError: cannot run a command in a job: expected env as an object of text/],
  ])("%j", async (options, message) => {
    expect(await refusal(options)).toMatch(message);
  });

  test("a command that is no list of text", async () => {
    expect(await refusal({}, "node worker.js")).toBe(
      'TypeError: cannot run a command in a job: expected a list of the program and its arguments, got "node worker.js"',
    );
  });

  test("a mesh that the job does not have, or none of several", async () => {
    expect(await refusal({ mesh: "trainers" })).toMatch(/^NoSuchMeshError: .*trainers.*workers/);
    const both = new ProcessJob({ meshes: { a: { hosts: 1 }, b: { hosts: 1 } }, cache: null });
    await expect(both.spmd({}, ["true"])).rejects.toThrow(
      `${failed}: job "viceroy" has several meshes; name one with mesh: a, b`,
    );
    expect(NoSuchMeshError).toBeDefined();
  });
});

describe("viceroy job spmd", () => {
  const cache = newCache();
  const module = ["--job", "programs/jobs.ts"];
  const viceroyJob = (...args: readonly string[]) => {
    const env = { ...process.env, JOB_CACHE: cache };
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "job", ...args], {
      cwd: project,
      encoding: "utf8",
      env,
    });
    return { status, stdout, stderr };
  };
  afterAll(() => {
    viceroyJob("kill", ...module);
  });

  test("runs a script, folds equal lines, and leaves the hosts for the next run", () => {
    const script = ["--", "sh", "-c", "echo begin; echo rank $RANK of $WORLD_SIZE"];
    const first = viceroyJob("spmd", ...module, "--procs", "2", ...script);
    expect(first).toMatchObject({ status: 0, stderr: "" });
    expect(first.stdout.trimEnd().split("\n").sort()).toEqual([
      "workers[0-3] begin",
      "workers[0] rank 0 of 4",
      "workers[1] rank 1 of 4",
      "workers[2] rank 2 of 4",
      "workers[3] rank 3 of 4",
    ]);
    const { applyId } = JSON.parse(viceroyJob("state", "--json", ...module).stdout);
    const second = viceroyJob("spmd", ...module, "--json", "--", "sh", "-c", "echo $RANK >&2; test $RANK = 0");
    expect(second.status).toBe(1);
    const lines = second.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toEqual({
      job: "viceroy",
      exitCode: 1,
      failures: [{ rank: 1, host: "workers[1]", exitCode: 1, reason: "rank 1 on workers[1] ended with exit code 1" }],
    });
    expect(lines.slice(0, -1)).toContainEqual({ rank: 1, stream: "stderr", line: "1" });
    expect(JSON.parse(viceroyJob("state", "--json", ...module).stdout)).toMatchObject({ applyId });
  });

  test("says what failed, and how often it was started", () => {
    const { status, stderr } = viceroyJob("spmd", ...module, "--max-restarts", "1", "--", "sh", "-c", "exit 9");
    expect(status).toBe(9);
    expect(stderr).toMatch(/^(rank [01] on workers\[[01]\] ended with exit code 9\n){2}$/);
  });

  test("a program that is not there exits with 127, and a bad number with 3", () => {
    expect(viceroyJob("spmd", ...module, "--", "no-such-program")).toMatchObject({ status: 127, stdout: "" });
    const { status, stderr } = viceroyJob("spmd", ...module, "--procs", "two", "--", "true");
    expect(status).toBe(3);
    expect(stderr).toContain('cannot run a command: expected --procs as a whole number, got "two"');
  });
});
