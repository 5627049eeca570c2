/** Tests of tasks that were sent to a process that ends: those that have begun are lost, all others run elsewhere, each once. */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { JobContext, TaskCancelledError, WorkerLostError } from "viceroy/tasks";
import { describe, expect, test } from "vitest";
import "../../runtime/index.js";
import { BegunRecord } from "../../runtime/tasks/host/begun-record.js";
import type { HeldLease } from "../../runtime/tasks/submit/held-lease.js";
import { fateOf } from "../../runtime/tasks/submit/lost-tasks.js";
import type { PendingTask } from "../../runtime/tasks/submit/pending-task.js";
import { BegunFile } from "../../runtime/tasks/worker/begun-file.js";
import * as plain from "../fixtures/tasks/plain.js";
import { until } from "../proc/until.js";

const newFile = () => path.join(mkdtempSync(path.join(tmpdir(), "begun-")), "runs");
const runsIn = (file: string) => readFileSync(file, "utf8").trim().split("\n").map(Number);
const hasBegun = (file: string) => until(() => existsSync(file));
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Runs the task of the tests until it is known to be short, so that many of its runs are sent at a time. */
async function becomeShort(context: JobContext): Promise<void> {
  const file = newFile();
  for (const n of upTo(80)) await context.get(context.run(plain.logRun, file, n));
}

describe.each([
  { isolation: "process", how: "kill" },
  { isolation: "process", how: "exit" },
  { isolation: "thread", how: "exit" },
] as const)("when a task ends its worker ($isolation, $how)", ({ isolation, how }) => {
  test.each([{ procs: 1 }, { procs: 2 }])("each task behind it runs once, with $procs workers", async ({ procs }) => {
    await using context = await JobContext.open({ procs, isolation });
    await becomeShort(context);
    const file = newFile();
    const deadly = [40, 41, 150];
    const refs = upTo(200).map((n) => context.run(plain.logRun, file, n, deadly.includes(n) ? how : "end"));
    const ends = await Promise.allSettled(refs.map((ref) => context.get(ref)));
    expect(runsIn(file).toSorted((a, b) => a - b)).toEqual(upTo(200));
    const lost = upTo(200).filter((n) => ends[n]!.status === "rejected");
    for (const n of lost) expect((ends[n] as PromiseRejectedResult).reason).toBeInstanceOf(WorkerLostError);
    expect(lost).toEqual(expect.arrayContaining(deadly));
  });
});

test("tasks behind a cancelled one that blocks the process run, each once, when the process has been killed", async () => {
  await using context = await JobContext.open({ procs: 1, grace: 100 });
  await becomeShort(context);
  const file = newFile();
  const blocks = context.run(plain.logRun, file, 0, "spin");
  const behind = [1, 2, 3].map((n) => context.run(plain.logRun, file, n));
  await hasBegun(file);
  context.cancel(blocks);
  expect(await context.get(behind)).toEqual([1, 2, 3]);
  await expect(context.get(blocks)).rejects.toThrow(TaskCancelledError);
  expect(runsIn(file).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
});

test("a cancelled task that does not end is killed although an earlier task waits in its process", async () => {
  await using context = await JobContext.open({ procs: 2, grace: 100 });
  for (let i = 0; i < 80; i++) {
    await context.get(context.run(plain.waitForOwn, { ref: 1 }));
    await context.get(context.run(plain.logRun, newFile(), 0));
  }
  const never = context.run(plain.after, 60_000);
  const file = newFile();
  const waits = context.run(plain.waitForOwn, { ref: never });
  const spins = context.run(plain.logRun, file, 0, "spin");
  await hasBegun(file);
  context.cancel(spins);
  await expect(context.get(spins)).rejects.toThrow(TaskCancelledError);
  await expect(context.get(waits)).rejects.toThrow(
    new WorkerLostError(
      "waitForOwn",
      "the process that ran waitForOwn has ended: task logRun was cancelled and did not end in 100 ms; " +
        "a task that may run again is defined with { idempotent: true }",
    ),
  );
  expect(await context.get(context.run(plain.twice, 4))).toBe(8);
});

describe("the record of tasks that have begun", () => {
  const context = "0123456789abcdef";

  test("has the last order of each lease, after the process has ended too", () => {
    const record = BegunRecord.make(context, `viceroy-test-${process.pid}`)!;
    expect(record.lastBegun(1)).toBeUndefined();
    const file = BegunFile.open(record.path, context)!;
    expect(record.lastBegun(1)).toBe(0);
    file.record(1, 1);
    file.record(7, 1);
    file.record(1, 2);
    expect([1, 7, 8].map((lease) => record.lastBegun(lease))).toEqual([2, 1, 0]);
    file.forget(1);
    file.record(8, 3);
    expect([1, 7, 8].map((lease) => record.lastBegun(lease))).toEqual([0, 1, 3]);
    record.close();
    expect(record.lastBegun(8)).toBeUndefined();
  });

  test("is not known of leases for which there was no room", () => {
    const record = BegunRecord.make(context, `viceroy-test-${process.pid}`)!;
    const file = BegunFile.open(record.path, context)!;
    for (let lease = 1; lease <= 8188; lease++) file.record(lease, 2);
    expect([8188, 8189].map((lease) => record.lastBegun(lease))).toEqual([2, 0]);
    file.record(8189, 1);
    expect([8188, 8189].map((lease) => record.lastBegun(lease))).toEqual([2, undefined]);
    record.close();
  });

  test("is not written by a worker of another context, or one that cannot open it", () => {
    const record = BegunRecord.make(context, `viceroy-test-${process.pid}`)!;
    expect(BegunFile.open(record.path, "fedcba9876543210")).toBeUndefined();
    expect(BegunFile.open("/proc/0/fd/99", context)).toBeUndefined();
    expect(record.lastBegun(1)).toBeUndefined();
    record.close();
  });
});

describe("a task whose process has ended", () => {
  const cause = new Error("the connection was closed");
  const sent = (order: number, retries = 0) => ({ label: "square", order, retries, endsBefore: 0 }) as PendingTask;
  const end = (begun?: number): HeldLease["ended"] => ({ reason: "it was killed", begun });

  test("runs again if it had not begun, and is lost if it had, or if that is not known", () => {
    expect(fateOf(sent(3), end(2), cause)).toBe("again");
    for (const known of [end(3), end(), undefined])
      expect(fateOf(sent(3), known, cause)).toMatchObject({ name: "WorkerLostError" });
  });

  test("uses up a retry only if it had begun", () => {
    const task = sent(3, 1);
    expect([fateOf(task, end(2), cause), task.retries]).toEqual(["again", 1]);
    expect([fateOf(task, end(3), cause), task.retries]).toEqual(["again", 0]);
    expect(fateOf(task, end(3), cause)).toMatchObject({ name: "WorkerLostError" });
  });

  test("is given up when processes end again and again before a task begins", () => {
    const task = sent(1);
    for (let i = 1; i < 5; i++) expect(fateOf(task, end(0), cause)).toBe("again");
    expect(fateOf(task, end(0), cause)).toMatchObject({
      name: "WorkerLostError",
      message:
        "cannot run square: 5 processes have ended before a task began, the last one because of this: it was killed",
    });
  });
});
