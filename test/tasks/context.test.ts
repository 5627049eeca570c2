/** Tests of contexts: what a program can do with tasks is the same on the event loop of the program and in processes. */
import { JobContext, ObjectLostError, TaskCancelledError, TaskError, task } from "viceroy/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as plain from "../fixtures/tasks/plain.js";

describe.each(["inline", "process"] as const)("a context with isolation %s", (isolation) => {
  let context: JobContext;
  beforeAll(async () => {
    context = await JobContext.open({ procs: 2, isolation, resources: { cpus: 4, memory: "8GiB", gpus: 1 } });
  });
  afterAll(async () => {
    await context.close();
  });

  test("runs a task", async () => {
    expect(await context.get(context.run(plain.add, 2, 3))).toBe(5);
  });

  test("runs many tasks, and returns their results in order", async () => {
    const refs = Array.from({ length: 10 }, (_, n) => context.run(plain.slowSquare, n));
    expect(await context.get(refs)).toEqual(Array.from({ length: 10 }, (_, n) => n * n));
  });

  test("waits for the first of several results", async () => {
    const refs = [context.run(plain.after, 60_000), context.run(plain.after, 10), context.run(plain.after, 60_000)];
    const [done, pending] = await context.wait(refs, { count: 1, timeout: 60_000 });
    expect(done).toEqual([refs[1]]);
    expect(done[0]).toBe(refs[1]);
    expect(pending).toEqual([refs[0], refs[2]]);
    expect(await context.get(done[0]!)).toBe("done");
    for (const ref of pending) context.cancel(ref);
    for (const ref of pending) await expect(context.get(ref)).rejects.toThrow(TaskCancelledError);
  });

  test("returns from a wait with a time limit, and counts a failed result as one that is there", async () => {
    const slow = context.run(plain.after, 60_000);
    const failed = context.run(plain.fail, "soon");
    await expect(context.get(failed)).rejects.toThrow(TaskError);
    expect(await context.wait([slow, failed], { count: 2, timeout: 50 })).toEqual([[failed], [slow]]);
    expect(await context.wait([slow], { timeout: 0 })).toEqual([[], [slow]]);
    context.cancel(slow);
  });

  test("stores values, of which each reader gets its own copy", async () => {
    const value = { key: "a", numbers: [1, 2, 3], at: new Date(0), set: new Set([1n]), floats: Float64Array.of(0.5) };
    const ref = context.put(value);
    value.numbers.push(4);
    const first = await context.get(ref);
    first.numbers.push(5);
    expect(await context.get(ref)).toEqual({ ...value, numbers: [1, 2, 3] });
  });

  test("copies arguments when the task is started", async () => {
    const list = [1];
    const ref = context.run(plain.mutate, list);
    list.push(2);
    expect(await context.get(ref)).toEqual([1, 99]);
    expect(list).toEqual([1, 2]);
  });

  test("passes results to other tasks", async () => {
    const sum = context.run(plain.add, context.run(plain.twice, 4), context.put(2));
    expect(await context.get(context.run(plain.twice, sum))).toBe(20);
  });

  test("does not run a task whose argument has failed", async () => {
    const failed = context.run(plain.fail, "no number");
    const error = await context.get(context.run(plain.add, 1, failed)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskError);
    expect((error as TaskError).message).toBe(
      "task add was not run: argument 2, the result of fail, has failed: no number",
    );
    expect((error as TaskError).cause).toMatchObject({ name: "TaskError", remoteName: "ValueError", task: "fail" });
  });

  test("is known to its tasks", async () => {
    expect(await context.get(context.run(plain.contextId))).toBe(context.id);
    expect(() => JobContext.current()).toThrow(
      "no JobContext is set: JobContext.current() works inside of tasks, and inside of context.activate()",
    );
    expect(context.activate(() => JobContext.current())).toBe(context);
  });

  test("runs tasks that start tasks, deeper than there are processes", async () => {
    expect(await context.get(context.run(plain.nested, 21))).toBe(42);
    expect(await context.get(context.run(plain.depth, 5))).toBe(6);
    const many = Array.from({ length: 8 }, () => context.run(plain.depth, 4));
    expect(await context.get(many)).toEqual(Array(8).fill(5));
  });

  test("reports class, message and stack of the error of a task", async () => {
    const error = await context.get(context.run(plain.fail, "Task failed!")).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskError);
    expect(error).toMatchObject({ message: "Task failed!", remoteName: "ValueError", task: "fail" });
    expect((error as TaskError).stack).toContain("plain.js");
  });

  test("returns values that are no references, and empty lists", async () => {
    expect(await context.get(42)).toBe(42);
    expect(await context.get("hello")).toBe("hello");
    expect(await context.get([])).toEqual([]);
    expect(await context.wait([])).toEqual([[], []]);
  });

  test("passes options as one object", async () => {
    expect(await context.get(context.run(plain.greet, { greeting: "Hi", name: "World" }))).toBe("Hi, World!");
  });

  test("runs tasks with resources, a name and a number of calls", async () => {
    const options = { resources: { cpus: 2, memory: 2 ** 30 }, name: "combined", maxCalls: 10 };
    const ref = context.with(options).run(plain.identity, "done");
    expect(`${ref}`).toBe("ObjectRef combined (pending)");
    expect(await context.get(ref)).toBe("done");
  });

  test("returns the same result to each get", async () => {
    const ref = context.run(plain.add, 1, 1);
    expect([await context.get(ref), await context.get(ref), await context.get(ref)]).toEqual([2, 2, 2]);
  });

  test("runs a hundred tasks at once", async () => {
    const refs = Array.from({ length: 100 }, (_, n) => context.run(plain.slowSquare, n));
    expect(await context.get(refs)).toEqual(Array.from({ length: 100 }, (_, n) => n * n));
  });

  test("passes references in values, in both directions", async () => {
    expect(await context.get(context.run(plain.refIn, { ref: context.run(plain.twice, 3) }))).toBe(7);
    const { ref } = await context.get(context.run(plain.makeRef));
    expect(await context.get(ref)).toEqual([1, 2, 3]);
  });

  test("drops a result that is released", async () => {
    const ref = context.put([1]);
    ref.release();
    await expect(context.get(ref)).rejects.toThrow(new ObjectLostError("the result of put was released"));
  });

  test("refuses references of another context, and use after the end", async () => {
    const other = await JobContext.open({ procs: 1, isolation: "inline" });
    const foreign = other.put(1);
    await expect(context.get(foreign)).rejects.toThrow(
      `cannot get a result: put belongs to the context ${other.id}, which is another one; get the value there, and pass it by put`,
    );
    expect(() => context.run(plain.twice, foreign)).toThrow("cannot run twice: put belongs to the context");
    await other.close();
    expect(() => other.run(plain.twice, 1)).toThrow(
      `cannot run twice: the context ${other.id} is closed: context.close was called`,
    );
    await expect(context.get(foreign)).rejects.toThrow(`belongs to the context ${other.id}, which is closed`);
  });

  test("refuses what cannot be sent, with its path", async () => {
    expect(() => context.run(plain.identity, { list: [0, () => 1] })).toThrow(
      /^cannot run identity: argument 1 at \.list\[1\]: expected a plain value .*, got a function;/,
    );
    const error = await context.get(context.run(plain.returnFunction)).catch((thrown: unknown) => thrown);
    expect((error as TaskError).message).toMatch(
      /^cannot return from returnFunction: the result at \.callback: expected a plain value /,
    );
    const thenable = await context.get(context.run(plain.throwThenable)).catch((thrown: unknown) => thrown);
    expect(thenable).toMatchObject({ name: "TaskError", task: "throwThenable" });
  });

  test("says that a reference is no promise", async () => {
    const ref = context.put(1);
    // @ts-expect-error a reference cannot be awaited
    const awaited = (async () => await ref)();
    await expect(awaited).rejects.toThrow(
      "cannot await the reference to put: an ObjectRef is no promise; use await ref.get()",
    );
  });

  test.each([
    [[0], "count from 1 to 1, the number of references, got 0"],
    [[2], "count from 1 to 1, the number of references, got 2"],
  ])("refuses to wait for %s results", async ([count], text) => {
    await expect(context.wait([context.put(1)], { count: count! })).rejects.toThrow(
      new RangeError(`cannot wait for results: expected ${text}`),
    );
  });

  test("refuses to wait for one reference twice", async () => {
    const ref = context.put(1);
    await expect(context.wait([ref, ref], { count: 2 })).rejects.toThrow(
      new RangeError("cannot wait for results: expected each ObjectRef once, got put again at position 1"),
    );
  });

  test("refuses negative resources, and what no host has", async () => {
    for (const cpus of [-1, Number.NaN]) {
      expect(() => context.with({ resources: { cpus } })).toThrow(
        new RangeError(`cannot run tasks: expected an amount of cpus from 0 to 900719925474, got ${cpus}`),
      );
    }
    const ref = context.with({ resources: { cpus: 64 } }).run(plain.twice, 1);
    await expect(context.get(ref)).rejects.toThrow(
      "cannot run twice: no host of the context has 64 cpus; one host has",
    );
  });
});

test("a context on the event loop runs closures, and one with processes says why it cannot", async () => {
  let seen = 0;
  const closure = task((n: number) => {
    seen += n;
    return seen;
  });
  await using inline = await JobContext.open({ procs: 2, isolation: "inline" });
  expect(await inline.get([inline.run(closure, 1), inline.run(closure, 2)])).toEqual([1, 3]);
  await using processes = await JobContext.open({ procs: 1 });
  await expect(processes.get(processes.run(closure, 1))).rejects.toThrow(
    'cannot run a closure: only a context whose isolation is "inline" has the functions of the program',
  );
});

test("code that has two contexts switches between them", async () => {
  await using a = await JobContext.open({ procs: 1, isolation: "inline" });
  await using b = await JobContext.open({ procs: 1, isolation: "inline" });
  const seen = a.activate(() => [JobContext.current(), b.activate(() => JobContext.current()), JobContext.current()]);
  expect(seen).toEqual([a, b, a]);
});
