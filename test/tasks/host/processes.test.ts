/** Tests of hosts with real worker processes, some of which are killed. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { JobContext, type JobContextOptions, WorkerLostError } from "viceroy/tasks";
import { afterEach, describe, expect, test } from "vitest";
import { openControlGroups } from "../../../runtime/tasks/host/control-groups.js";
import * as tasks from "../../fixtures/tasks/host.js";

const driver = fileURLToPath(new URL("../../fixtures/tasks/host-driver.mjs", import.meta.url));

const opened: JobContext[] = [];
afterEach(async () => {
  for (const context of opened.splice(0)) await context.close();
});

async function open(options: JobContextOptions): Promise<JobContext> {
  const context = await JobContext.open(options);
  opened.push(context);
  return context;
}

function newFile(): string {
  return join(mkdtempSync(join(tmpdir(), "tasks-")), "pid");
}

/** Returns the process id that a task has written. */
async function pidIn(file: string): Promise<number> {
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8"), { timeout: 60_000 }).toBeTruthy();
  return Number(readFileSync(file, "utf8"));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const ended = (pid: number) => expect.poll(() => isRunning(pid), { timeout: 60_000 }).toBe(false);

describe("worker processes", () => {
  test("that are killed take their task with them, and others are started", async () => {
    const context = await open({ procs: 1 });
    const before = await context.get(context.run(tasks.processId));
    const file = newFile();
    const lost = context.run(tasks.holdOn, file);
    const pid = await pidIn(file);
    expect(pid).toBe(before);
    process.kill(pid, "SIGKILL");
    const error = await context.get(lost).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkerLostError);
    expect((error as Error).message).toContain(`process ${pid} was killed by SIGKILL`);
    expect(await context.get(context.run(tasks.processId))).not.toBe(pid);
  });

  test("end with the process that has leased them, and their resources are free then", async () => {
    const context = await open({ procs: 2 });
    const [own, file] = [newFile(), newFile()];
    const outer = context.run(tasks.holdThere, own, file);
    const [holder, worker] = [await pidIn(own), await pidIn(file)];
    expect(worker).not.toBe(holder);
    process.kill(holder, "SIGKILL");
    await expect(context.get(outer)).rejects.toThrow(WorkerLostError);
    await ended(worker);
    // Both processors are free again.
    await context.get(context.with({ resources: { cpus: 2 } }).run(tasks.processId));
  });

  test("are not used again after the number of tasks that they may run", async () => {
    const context = await open({ procs: 1 });
    const once = context.with({ maxCalls: 1 });
    const pids = [];
    for (let i = 0; i < 3; i++) pids.push(await context.get(once.run(tasks.processId)));
    expect(new Set(pids).size).toBe(3);
    for (const pid of pids) await ended(pid);
  });

  test("that end again and again while they start reject their tasks, with the reason", async () => {
    const context = await open({ procs: 1 });
    const broken = context.with({ environment: { env: { NODE_OPTIONS: "--no-such-option" } } });
    const refs = [broken.run(tasks.processId), broken.run(tasks.processId)];
    for (const ref of refs) {
      const error = await context.get(ref).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(WorkerLostError);
      expect((error as Error).message).toMatch(/^cannot run processId on host 0: .*process \d+ exited with code 9/);
    }
    expect(await context.get(context.run(tasks.processId))).toBeGreaterThan(0);
  });

  test("have environments of their own", async () => {
    const context = await open({ procs: 1, resources: { cpus: 1 } });
    const one = await context.get(context.run(tasks.visibleGpus, 0));
    const two = await context.get(
      context.with({ environment: { env: { CUDA_VISIBLE_DEVICES: "from env" } } }).run(tasks.visibleGpus, 0),
    );
    expect(two.gpus).toBe("from env");
    expect(two.pid).not.toBe(one.pid);
    await ended(one.pid);
  });
});

describe("memory", () => {
  test("is limited for each task: one that uses too much is ended, and says so, and its neighbours go on", async () => {
    const context = await open({ procs: 2, resources: { cpus: 2, memory: "4GiB" } });
    const neighbour = context.run(tasks.sleepWell, 3000);
    const greedy = context.with({ resources: { cpus: 1, memory: "256MiB" } }).run(tasks.allocate, 4096);
    const error = await context.get(greedy).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkerLostError);
    expect((error as Error).message).toMatch(
      /: allocate (used [\d.]+ [MG]iB of memory, and has 256 MiB|was killed by the system when it needed more memory than the 256 MiB that it has); run it with more memory;/,
    );
    await context.get(neighbour);
    expect(await context.get(context.with({ resources: { cpus: 1, memory: "512MiB" } }).run(tasks.allocate, 64))).toBe(
      4,
    );
  });

  test("is not limited any more when the lease has ended", async () => {
    const context = await open({ procs: 1, resources: { cpus: 1, memory: "1GiB" } });
    const limited = context.with({ resources: { cpus: 1, memory: "192MiB" } });
    const pid = await context.get(limited.run(tasks.processId));
    expect(await context.get(context.run(tasks.allocate, 320))).toBe(20);
    expect(await context.get(context.run(tasks.processId))).toBe(pid);
  });
});

test("nothing is left of a program that is killed", async () => {
  const file = newFile();
  const program = spawn(process.execPath, [driver, file], { stdio: "ignore" });
  const pid = await pidIn(file);
  const control = openControlGroups();
  const groups = () => {
    const all = control === undefined ? [] : readdirSync(dirname(control.folder));
    return all.filter((name) => name.startsWith(`viceroy-${program.pid}-`));
  };
  expect(groups()).toHaveLength(control === undefined ? 0 : 1);
  program.kill("SIGKILL");
  await ended(pid);
  // The watcher removes them. No other program may do so before.
  await expect.poll(groups, { timeout: 60_000 }).toEqual([]);
  control?.close();
});

describe("resources", () => {
  test("limit how many tasks run at the same time", async () => {
    const context = await open({ procs: 4, resources: { cpus: 4, tokens: 2 } });
    const withToken = context.with({ resources: { cpus: 1, tokens: 1 } });
    const spans = await context.get(Array.from({ length: 6 }, () => withToken.run(tasks.sleepWell, 30)));
    for (const [start] of spans) {
      const running = spans.filter(([from, to]) => from <= start && start < to).length;
      expect(running).toBeLessThanOrEqual(2);
    }
  });

  test("have GPUs that tasks see alone, or share", async () => {
    const context = await open({ procs: 4, resources: { cpus: 4, gpus: 2 } });
    const [whole, half] = [context.with({ resources: { gpus: 1 } }), context.with({ resources: { gpus: 0.5 } })];
    const first = whole.run(tasks.visibleGpus, 1500);
    const halves = [half.run(tasks.visibleGpus, 1500), half.run(tasks.visibleGpus, 1500)];
    const seen = (await context.get([first, ...halves])).map(({ gpus }) => gpus);
    expect(seen[1]).toBe(seen[2]);
    expect([...new Set(seen)].sort()).toEqual(["0", "1"]);
    expect((await context.get(context.run(tasks.visibleGpus, 0))).gpus).toBe("");
  });

  test("of big tasks become free although other tasks never end", async () => {
    const context = await open({ procs: 2, resources: { cpus: 2 } });
    let more = true;
    const endless = Array.from({ length: 4 }, async () => {
      while (more) await context.get(context.run(tasks.sleepWell, 2));
    });
    for (let i = 0; i < 3; i++) await context.get(context.with({ resources: { cpus: 2 } }).run(tasks.processId));
    more = false;
    await Promise.all(endless);
  });
});
