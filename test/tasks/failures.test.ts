/** Tests of tasks that fail, end their process, do not end, or wait for each other: real processes, killed for real. */
import { mkdtempSync, readFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { DeadlockError, TimeoutError } from "viceroy";
import {
  JobContext,
  ObjectLostError,
  type ObjectRef,
  TaskCancelledError,
  TaskError,
  task,
  WorkerLostError,
} from "viceroy/tasks";
import { describe, expect, test } from "vitest";
import * as plain from "../fixtures/tasks/plain.js";
import { gone, until } from "../proc/until.js";

const newFile = () => path.join(mkdtempSync(path.join(tmpdir(), "tasks-")), "runs");
const runsIn = (file: string) => readFileSync(file, "utf8").trim().split("\n").length;

describe("a context with processes", () => {
  test("reports the end of the process of a task, and runs later tasks", async () => {
    await using context = await JobContext.open({ procs: 1 });
    const error = await context.get(context.run(plain.exitNow)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkerLostError);
    expect((error as Error).message).toMatch(
      /^the process that ran exitNow has ended: .*exit.* 3.*; a task that may run again is defined with \{ idempotent: true \}$/s,
    );
    expect(await context.get(context.run(plain.twice, 2))).toBe(4);
  });

  test("runs an idempotent task again when its process is killed, and no other task", async () => {
    await using context = await JobContext.open({ procs: 2 });
    const [again, once] = [newFile(), newFile()];
    expect(await context.get(context.run(plain.killsTwice, again))).toBe(3);
    await expect(context.get(context.run(plain.killsOnce, once))).rejects.toThrow(WorkerLostError);
    expect([runsIn(again), runsIn(once)]).toEqual([3, 1]);
    const few = newFile();
    await expect(context.get(context.with({ retries: 1 }).run(plain.killsTwice, few))).rejects.toThrow(WorkerLostError);
    expect(runsIn(few)).toBe(2);
    expect(() => context.with({ retries: 1 }).run(plain.killsOnce, once)).toThrow(
      "cannot run killsOnce: retries need a task that can run several times: define it with { idempotent: true }",
    );
  });

  test("ends a cancelled task that blocks its event loop, and its neighbour goes on", async () => {
    await using context = await JobContext.open({ procs: 2, grace: 200 });
    const neighbour = context.run(plain.after, 1500, "lives");
    const pid = context.run(plain.processId);
    await context.get(pid);
    const spinning = context.run(plain.spin, 60_000);
    await context.wait([spinning], { timeout: 300 });
    context.cancel(spinning);
    const error = await context.get(spinning).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskCancelledError);
    expect((error as Error).message).toBe("task spin was cancelled: context.cancel was called");
    expect(await context.get(neighbour)).toBe("lives");
    expect(await context.get(context.run(plain.twice, 1))).toBe(2);
  });

  test("tells a cancelled task by its signal, and its process lives", async () => {
    await using context = await JobContext.open({ procs: 1 });
    const before = await context.get(context.run(plain.processId));
    const slow = context.run(plain.after, 60_000);
    await context.wait([slow], { timeout: 200 });
    context.cancel(slow);
    await expect(context.get(slow)).rejects.toThrow(TaskCancelledError);
    expect(await context.get(context.run(plain.processId))).toBe(before);
  });

  test("leaves no process when it is closed while tasks run", async () => {
    const context = await JobContext.open({ procs: 2 });
    const pids = await context.get([context.run(plain.processId), context.run(plain.processId)]);
    const running = Array.from({ length: 20 }, () => context.run(plain.after, 60_000));
    await context.wait(running, { timeout: 100 });
    await context.close();
    for (const pid of pids) await until(() => gone(pid));
    await expect(context.get(running[0]!)).rejects.toThrow("task after was cancelled: context.close was called");
    await context.close();
  });

  test("ends the programs that a task has started, when the context is closed", async () => {
    const context = await JobContext.open({ procs: 1 });
    const pid = await context.get(context.run(plain.startProgram));
    expect(gone(pid)).toBe(false);
    await context.close();
    await until(() => gone(pid));
  });

  test("gives each call of a task with one call for each process a new process", async () => {
    await using context = await JobContext.open({ procs: 2 });
    const once = context.with({ maxCalls: 1 });
    const counts = await context.get([1, 2, 3].map(() => once.run(plain.countCalls)));
    expect(counts).toEqual([1, 1, 1]);
  });

  test("sets environment variables for tasks", async () => {
    await using context = await JobContext.open({ procs: 1, environment: { env: { OF_CONTEXT: "a", OF_BOTH: "b" } } });
    const options = { environment: { env: { OF_TASK: "c", OF_BOTH: "d" } } };
    const names = ["OF_CONTEXT", "OF_BOTH", "OF_TASK"];
    expect(await context.get(names.map((name) => context.run(plain.readEnv, name)))).toEqual(["a", "b", null]);
    expect(await context.get(names.map((name) => context.with(options).run(plain.readEnv, name)))).toEqual([
      "a",
      "d",
      "c",
    ]);
  });

  test("stops waiting when a time limit has passed", async () => {
    await using context = await JobContext.open({ procs: 1 });
    const slow = context.run(plain.after, 60_000);
    await expect(context.get(slow, { timeout: 50 })).rejects.toThrow(
      new TimeoutError("no result of after within 50 ms"),
    );
    await expect(context.get([slow, context.run(plain.after, 60_000)], { timeout: 50 })).rejects.toThrow(
      new TimeoutError("no result of after, after within 50 ms"),
    );
  });

  test("says that the module of a task cannot be loaded", async () => {
    await using context = await JobContext.open({ procs: 1 });
    const missing = task("file:///nowhere/module.js", "missing", () => 1);
    await expect(context.get(context.run(missing))).rejects.toThrow(
      `cannot run task missing: its module file:///nowhere/module.js cannot be loaded on host ${hostname()}: `,
    );
    const { href } = new URL("../fixtures/tasks/plain.js", import.meta.url);
    const hidden = task(href, "hidden", () => 1);
    await expect(context.get(context.run(hidden))).rejects.toThrow(
      /^cannot run task hidden: module file:.*plain\.js defines no task of this name; it exports ValueError, add, /,
    );
  });
});

test("1,000 gets of a value whose process has ended are all rejected with the reason, before and after the end is known", async () => {
  await using context = await JobContext.open({ procs: 1 });
  const { ref } = await context.get(context.run(plain.makeLarge, 100_000));
  const pid = await context.get(context.run(plain.processId));
  process.kill(pid, "SIGKILL");
  for (let round = 0; round < 2; round++) {
    const settled = await Promise.allSettled(Array.from({ length: 1000 }, () => context.get(ref)));
    const reasons = settled.map((result) => (result.status === "rejected" ? (result.reason as Error) : undefined));
    expect(reasons.every((reason) => reason instanceof ObjectLostError)).toBe(true);
    expect(new Set(reasons.map((reason) => reason!.message)).size).toBe(1);
    expect(reasons[0]!.message).toMatch(/^the result of put is lost: the process that had it has ended: /);
  }
  // The context goes on in another process.
  expect(await context.get(context.run(plain.add, 1, 2))).toBe(3);
});

describe("a task that waits for a result that will never be there", () => {
  test("of its own", async () => {
    await using context = await JobContext.open({ procs: 2, isolation: "inline" });
    let own: ObjectRef<number>;
    own = context.run(
      task(async function waiting(): Promise<number> {
        return JobContext.current().get(own);
      }),
    );
    const error = await context.get(own).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskError);
    expect(error).toMatchObject({
      remoteName: DeadlockError.name,
      message: "task waiting waits for its own result, waiting, so that it would never end",
    });
  });

  test("of a task that waits for it", async () => {
    await using context = await JobContext.open({ procs: 2, isolation: "inline" });
    let parent: ObjectRef<number>;
    const child = task(async function child(): Promise<number> {
      return JobContext.current().get(parent);
    });
    parent = context.run(
      task(async function parentTask(): Promise<number> {
        const here = JobContext.current();
        return here.get(here.run(child));
      }),
    );
    const error = await context.get(parent).catch((thrown: unknown) => thrown);
    expect((error as TaskError).message).toBe(
      "task child waits for the result of parentTask, which waits for child: neither would ever end; " +
        "return the value, or pass it as an argument",
    );
  });
});
