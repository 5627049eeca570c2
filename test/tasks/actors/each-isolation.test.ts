/** What programs rely on in every isolation: actors, options of tasks, and limits of waiting mean the same in all of them. */
import "../../contract/project/generated/registry.js";
import { JobContext, TaskCancelledError, TaskError } from "viceroy/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryStore } from "../../contract/project/src/memory-store.js";
import * as plain from "../../fixtures/tasks/plain.js";

describe.each(["inline", "thread", "process"] as const)("in a context with isolation %s", (isolation) => {
  let context: JobContext;
  beforeAll(async () => {
    const resources = { cpus: 4, gpus: 1, memory: "8GiB", heads: 1 };
    context = await JobContext.open({ procs: 2, isolation, resources });
  });
  afterAll(() => context.close());

  test("an actor keeps state between its calls", async () => {
    const store = await context.actor(MemoryStore, []);
    await context.get([store.put.run("a", ["1"]), store.put.run("b", ["2", "3"]), store.put.run("c", [])]);
    expect(await context.get([store.get.run("a"), store.get.run("b"), store.count.run()])).toEqual([
      ["1"],
      ["2", "3"],
      3,
    ]);
    expect(await context.get(store.get.run("d"))).toBeNull();
    await store.stop();
  });

  test("the constructor of an actor takes values, and options as one object", async () => {
    const store = await context.actor(MemoryStore, [1, 2, { third: 3, fourth: 4 }]);
    expect(await context.get(store.amounts.run())).toBe(10);
    await store.stop();
  });

  test("an error of an actor has its class and its message, and the actor keeps its state", async () => {
    const store = await context.actor(MemoryStore, []);
    expect(await context.get(store.next.run())).toBe(1);
    const error = await context.get(store.fail.run("Actor method failed!")).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskError);
    expect(error).toMatchObject({
      message: "Actor method failed!",
      remoteName: "RangeError",
      task: "MemoryStore.fail",
    });
    expect(await context.get(store.next.run())).toBe(2);
    await store.stop();
  });

  test("an actor with a name is the same for all who ask for it, and keeps its state", async () => {
    const first = await context.actor(MemoryStore, [], { name: "shared" });
    await context.get(first.put.run("key", ["value"]));
    expect(await context.get(first.next.run())).toBe(1);
    const second = await context.actor(MemoryStore, [], { name: "shared", getIfExists: true });
    expect(await context.get(second.next.run())).toBe(2);
    expect(await context.get(second.get.run("key"))).toEqual(["value"]);
    const third = (await context.getActor(MemoryStore, "shared"))!;
    expect(await context.get(third.next.run())).toBe(3);
    await first.stop();
    expect(await context.getActor(MemoryStore, "shared")).toBeUndefined();
  });

  test("actors without names are independent", async () => {
    const [one, two] = await Promise.all([context.actor(MemoryStore, []), context.actor(MemoryStore, [])]);
    expect(await context.get([one.next.run(), one.next.run(), two.next.run()])).toEqual([1, 2, 1]);
    await Promise.all([one.stop(), two.stop()]);
  });

  test("an actor holds its resources until it ends, those with names of the program too", async () => {
    const all = { cpus: 4, gpus: 1, memory: "8GiB", heads: 1 };
    const holder = await context.actor(MemoryStore, [], { resources: all });
    const next = context.actor(MemoryStore, [], { resources: { heads: 0.0001 } });
    const task = context.run(plain.twice, 4);
    expect(await context.wait([task], { timeout: 50 })).toEqual([[], [task]]);
    await holder.stop();
    expect(await context.get(task)).toBe(8);
    await (await next).stop();
    const withGpu = await context.actor(MemoryStore, [], { resources: { cpus: 0, gpus: 1 } });
    expect(await context.get(withGpu.next.run())).toBe(1);
    await withGpu.stop();
  });

  test("tasks run with all resources of a host, and with options that say nothing", async () => {
    const all = context.with({ resources: { cpus: 4, memory: "8GiB", gpus: 1 } });
    expect(await context.get([all.run(plain.twice, 1), all.run(plain.twice, 2)])).toEqual([2, 4]);
    expect(await context.get(context.with({}).run(plain.twice, 3))).toBe(6);
  });

  test("a task has the variables of its environment, where tasks have processes or threads", async () => {
    const options = {
      resources: { cpus: 1 },
      name: "with variables",
      environment: { env: { TEST_KEY: "test value" } },
    };
    const ref = context.with(options).run(plain.readEnv, "TEST_KEY");
    if (isolation === "inline") {
      await expect(context.get(ref)).rejects.toThrow(
        'cannot run with variables on host 0: it has an environment, and the isolation "inline" has only that of the program',
      );
    } else {
      expect(await context.get(ref)).toBe("test value");
    }
  });

  test("each call of a task with one call for each process has a new one, where there are any", async () => {
    const once = context.with({ maxCalls: 1 });
    const counts: number[] = [];
    for (let i = 0; i < 3; i++) counts.push(await context.get(once.run(plain.countCalls)));
    expect(counts).toEqual(isolation === "inline" ? [1, 2, 3] : [1, 1, 1]);
  });

  test("a wait ends at its limit with the results that are there", async () => {
    const fast = context.run(plain.after, 0);
    await context.get(fast);
    const slow = [context.run(plain.after, 60_000), context.run(plain.after, 60_000)];
    expect(await context.wait([fast, ...slow], { count: 3, timeout: 50 })).toEqual([[fast], slow]);
    expect(await context.wait(slow, { count: 2, timeout: 50 })).toEqual([[], slow]);
    for (const ref of slow) context.cancel(ref);
    for (const ref of slow) await expect(context.get(ref)).rejects.toThrow(TaskCancelledError);
  });

  test("fifty actors live at the same time", async () => {
    const few = { resources: { cpus: 0.05 } };
    const stores = await Promise.all(Array.from({ length: 50 }, (_, n) => context.actor(MemoryStore, [n], few)));
    const numbers = await context.get(stores.map((store) => store.amounts.run()));
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, n) => n));
    await Promise.all(stores.map((store) => store.stop()));
  });
});

test("an actor ends with its context", async () => {
  const context = await JobContext.open({ procs: 1, isolation: "inline" });
  const store = await context.actor(MemoryStore, []);
  await context.close();
  expect(() => store.next.run()).toThrow(`cannot call MemoryStore.next: the context ${context.id} is closed`);
});
