/** References in messages of actors: where they can be, how long their values live, and what is refused. */
import { onUnhandledFault, type ProcMesh, thisHost } from "viceroy";
import { JobContext, type ObjectRef } from "viceroy/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as plain from "../../fixtures/tasks/plain.js";
import { gone, until } from "../../proc/until.js";
import { collectGarbage, loadTrainers, type Trainers } from "./trainers.js";

const large = 2 ** 20;

let trainers: Trainers;
let context: JobContext;
let procs: ProcMesh<"gpus">;
beforeAll(async () => {
  trainers = await loadTrainers();
  context = await JobContext.open({ procs: 1 });
  procs = thisHost().spawnProcs({ gpus: 2 });
  // Processes are killed.
  onUnhandledFault(() => {});
});
afterAll(async () => {
  await procs.stop();
  await context.close();
});

const spawn = (name: string) => procs.spawn(name, trainers.SteadyTrainer);
const filled = (value: number, length = large) => new Float32Array(length).fill(value);

describe.each(["process", "thread", "inline"] as const)("with the isolation %s", (isolation) => {
  test("references are read in fields, arrays, maps, and in other values", async () => {
    await using others = thisHost().spawnProcs({ gpus: 2 }, { isolation });
    const mesh = others.spawn("trainers", trainers.SteadyTrainer);
    const batch = {
      single: context.put(filled(1)),
      many: [context.put(10), context.put(20)],
      named: new Map([["a", context.put("four")]]),
      maybe: context.put(300),
      layers: context.put({ name: "six666", layers: new Map([["first", filled(1000, 3)]]) }),
      nested: context.put({ inner: context.put(5000), text: "two" }),
    };
    const expected = 1 + 30 + 4 + 300 + 6 + 1000 + 5000 + 3;
    expect([...(await mesh.sum.call(batch)).values()]).toEqual([expected, expected]);
    const { maybe: _, ...less } = batch;
    expect([...(await mesh.sum.call(less)).values()]).toEqual([expected - 300, expected - 300]);
  });

  test("two actors of one process do not see what the other one writes", async () => {
    await using one = thisHost().spawnProcs({}, { isolation });
    const first = one.spawn("first", trainers.SteadyTrainer);
    const second = one.spawn("second", trainers.SteadyTrainer);
    const ref = context.put(filled(1));
    await Promise.all([first.load.callOne(ref), second.load.callOne(ref)]);
    await first.scribble.callOne(3);
    expect((await second.read.callOne()).first).toBe(1);
    expect((await ref.get())[0]).toBe(1);
  });
});

test("values of any size are read", async () => {
  const mesh = spawn("sizes");
  expect([...(await mesh.number.call(context.put(0.5))).values()]).toEqual([0.5, 0.5]);
  for (const length of [1, 16_383, 16_384, large]) {
    const readings = [...(await mesh.load.call(context.put(filled(2, length)))).values()];
    for (const { length: read, first, last } of readings) expect([read, first, last]).toEqual([length, 2, 2]);
  }
});

test("a reference can be sent before its task has ended, and tells of its error", async () => {
  const mesh = spawn("pending");
  expect([...(await mesh.number.call(context.run(plain.slowSquare, 5))).values()]).toEqual([25, 25]);
  const failed = mesh.slice({ gpus: 0 }).number.callOne(context.run(plain.fail, "no number"));
  await expect(failed).rejects.toThrow("no number");
  const endless = context.run(plain.after, 600_000);
  await mesh.keep.call(endless as unknown as ObjectRef<Float32Array>);
  await expect(mesh.slice({ gpus: 1 }).read.callOne(10)).rejects.toThrow("no result of after within 10 ms");
  context.cancel(endless);
  expect(await mesh.slice({ gpus: 1 }).whyNot.callOne()).toContain("was cancelled");
});

test("a value that a worker has is read, and is lost with the worker", async () => {
  const mesh = spawn("of-worker").slice({ gpus: 0 });
  await using other = await JobContext.open({ procs: 1 });
  const pid = await other.get(other.run(plain.processId));
  const { ref } = (await other.get(other.run(plain.makeLarge, large))) as { ref: ObjectRef<Uint8Array> };
  const asFloats = ref as unknown as ObjectRef<Float32Array>;
  expect((await mesh.load.callOne(asFloats)).length).toBe(large);
  process.kill(pid, "SIGKILL");
  await until(() => gone(pid));
  await until(async () => (await mesh.whyNot.callOne()).startsWith("ObjectLostError: the value is lost: the process "));
});

test("a reference comes back, and is passed on by those that have it", async () => {
  const first = spawn("first").slice({ gpus: 0 });
  const second = spawn("second").slice({ gpus: 1 });
  await first.keep.callOne(context.put(filled(4)));
  await collectGarbage();
  const { weights: back } = await first.give.callOne();
  expect(back.label).toBe("put");
  await second.keep.callOne(back);
  await first.drop.callOne();
  await collectGarbage();
  expect((await second.read.callOne()).first).toBe(4);
  const seen: number[] = [];
  for await (const [, { weights }] of second.giveMany.stream(3)) seen.push((await weights.get())[0]!);
  expect(seen).toEqual([4, 4, 4]);
  // The tasks of the context read it, too.
  const { weights } = await second.give.callOne();
  expect(((await context.get(context.run(plain.identity, weights))) as Float32Array).length).toBe(large);
});

test("nothing but a message needs to keep a reference", async () => {
  const mesh = spawn("kept");
  for (let round = 1; round <= 20; round++) {
    mesh.keep.broadcast(context.put(filled(round, 20_000)));
    await collectGarbage();
    expect([...(await mesh.read.call()).values()].map(({ first }) => first)).toEqual([round, round]);
  }
  // Calls of a busy actor wait in its queue.
  const slow = Array.from({ length: 10 }, (_, i) => mesh.load.call(context.put(filled(i, 20_000))));
  await collectGarbage();
  const firsts = (await Promise.all(slow)).map((readings) => [...readings.values()].map(({ first }) => first));
  expect(firsts).toEqual(Array.from({ length: 10 }, (_, i) => [i, i]));
});

test("a constructor takes a reference", async () => {
  const mesh = procs.spawn("constructed", trainers.SteadyTrainer, context.put(6));
  await collectGarbage();
  expect([...(await mesh.initial.call()).values()]).toEqual([6, 6]);
});

test("a value that was released is lost", async () => {
  const mesh = spawn("released").slice({ gpus: 0 });
  const ref = context.put(filled(1));
  await mesh.keep.callOne(ref);
  ref.release();
  expect(await mesh.whyNot.callOne()).toBe("ObjectLostError: the result of put was released");
  const again = context.put(filled(2));
  await mesh.load.callOne(again);
  await mesh.release.callOne();
  expect(await mesh.whyNot.callOne()).toBe("ObjectLostError: the result of put was released");
  expect((await again.get())[0]).toBe(2);
  again.release();
  await expect(again.get()).rejects.toThrow("the result of put was released");
});

test("the values of a context are lost when it is closed, and their memory is freed", async () => {
  await using own = thisHost().spawnProcs({});
  const mesh = own.spawn("closed", trainers.SteadyTrainer);
  const other = await JobContext.open({ procs: 1 });
  const ref = other.put(filled(1));
  const unread = other.put(filled(2));
  await mesh.load.callOne(ref);
  await mesh.keep.callOne(unread);
  const { id } = other;
  await other.close();
  await until(async () => (await mesh.whyNot.callOne()).includes("is lost"));
  expect(await mesh.whyNot.callOne()).toBe(`ObjectLostError: the value is lost: the context ${id} was closed`);
  expect(() => mesh.keep.callOne(ref)).toThrow(
    `cannot encode Trainer.keep(weights): put belongs to the context ${id}, which is closed: context.close was called`,
  );
  await mesh.drop.callOne();
  await until(async () => (await mesh.inodes.callOne()).length === 0);
});

test("references of several contexts can be in one message", async () => {
  await using other = await JobContext.open({ procs: 1 });
  const mesh = spawn("mixed");
  const batch = {
    single: context.put(filled(1)),
    many: [context.put(10), other.put(20)],
    named: new Map<string, ObjectRef<string>>(),
    layers: other.put({ name: "", layers: new Map([["first", filled(100, 1)]]) }),
    nested: other.put({ inner: other.put(1000), text: "" }),
  };
  expect([...(await mesh.sum.call(batch)).values()]).toEqual([1131, 1131]);
});

test("what is no reference is refused before it is sent, and its argument is named", () => {
  const mesh = spawn("refusing");
  expect(() => mesh.load.call(filled(1, 3) as never)).toThrow(
    "cannot encode Trainer.load(weights): expected an ObjectRef, as context.put returns it, got a Float32Array",
  );
  expect(() => mesh.load.call({} as never)).toThrow("got an object");
});

test("a process that has only got references has no context", async () => {
  const mesh = spawn("guest").slice({ gpus: 0 });
  await mesh.keep.callOne(context.put(filled(1)));
  expect(await mesh.startTasks.callOne()).toContain("no JobContext is set");
});
