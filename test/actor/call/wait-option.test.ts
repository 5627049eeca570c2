/** Calls and streams with the option `wait`, on actors that are down and come back while the test says so. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SupervisionError } from "../../../runtime/actor/errors.js";
import { type ActorMesh, viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { ActorTarget } from "../../../runtime/actor/reference/mesh-record.js";
import { noKeepAlive } from "../../../runtime/link/keep-alive.js";
import { Counter, type CounterMesh } from "../counter.js";
import { settled } from "../parts.js";
import { type TestProc, World } from "../world.js";

let world: World;
let procs: TestProc[];
let counters: CounterMesh<"gpus">;
let calls: number;
/** The number of holds that keep the process alive. */
let holds: number;
const { hold, release } = noKeepAlive;

class Counting extends Counter {
  override value(): number {
    calls++;
    return super.value();
  }
  override async *watch(count: number): AsyncGenerator<number> {
    calls++;
    for (let i = 0; i < count; i++) yield i;
  }
}

beforeEach(() => {
  calls = 0;
  holds = 0;
  noKeepAlive.hold = () => void holds++;
  noKeepAlive.release = () => void holds--;
  world = new World();
  procs = ["a", "b", "c"].map((name) => world.proc(name));
  counters = world.spawn("counters", Counting, [3], procs) as CounterMesh<"gpus">;
});
afterEach(() => {
  world.close();
  Object.assign(noKeepAlive, { hold, release });
});

const target = (rank: number): ActorTarget => viewOf(counters as unknown as ActorMesh).target(rank);
const failure = (promise: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(promise).then(
    () => new Error("no error"),
    (error) => error,
  );
const gone = new Error("no longer needed");

async function read(stream: AsyncIterable<unknown>): Promise<number> {
  let items = 0;
  for await (const _ of stream) items++;
  return items;
}

/** What each adverb does with a mesh of three actors, whose counters are 3. */
const adverbs: readonly (readonly [string, (signal?: AbortSignal) => PromiseLike<unknown>, unknown])[] = [
  [
    "call",
    (signal) =>
      counters.value
        .with({ wait: true, signal: signal! })
        .call()
        .then((all) => [...all.values()]),
    [3, 3, 3],
  ],
  ["reduce", (signal) => counters.value.with({ wait: true, signal: signal! }).reduce("sum"), 9],
  ["stream", (signal) => read(counters.watch.with({ wait: true, signal: signal! }).stream(2)), 6],
];

describe.each(adverbs)("%s with wait", (_, make, result) => {
  test("is sent when all actors that are being restarted are back, also if one is down again", async () => {
    target(1).markDown();
    target(2).markDown();
    const answer = make();
    target(1).markBack();
    await settled();
    target(2).markBack();
    target(1).markDown();
    for (let turns = 0; turns < 5; turns++) await settled();
    expect([calls, holds > 0]).toEqual([0, true]);
    target(1).markBack();
    expect(await answer).toEqual(result);
  });

  test("does not wait if an actor is lost, because the call cannot succeed", async () => {
    target(1).markDown();
    target(2).markDown().markLost();
    await make();
    expect(calls).toBe(3);
    target(1).markBack();
  });

  test("does not wait any longer if an actor is lost while another one is awaited", async () => {
    target(1).markDown();
    const answer = make();
    await settled();
    target(2).markDown().markLost();
    target(1).markBack();
    target(1).markDown();
    expect(await answer).toEqual(result);
  });

  test("rejects at once with the reason of a signal that was aborted before, and is not sent", async () => {
    target(1).markDown();
    const controller = new AbortController();
    controller.abort(gone);
    expect(await failure(make(controller.signal))).toBe(gone);
    target(1).markBack();
    await settled();
    expect([calls, holds]).toEqual([0, 0]);
  });

  test("that is aborted while it waits rejects with the reason, and is not sent later", async () => {
    target(1).markDown();
    const controller = new AbortController();
    const failed = failure(make(controller.signal));
    await settled();
    controller.abort(gone);
    expect(await failed).toBe(gone);
    expect(holds).toBe(0);
    target(1).markBack();
    await settled();
    await settled();
    expect(calls).toBe(0);
  });

  test("that is not aborted is sent although it has a signal", async () => {
    target(1).markDown();
    const answer = make(new AbortController().signal);
    await settled();
    expect(calls).toBe(0);
    target(1).markBack();
    expect(await answer).toEqual(result);
  });
});

test.each<[string, () => PromiseLike<unknown>]>([
  ["call", () => counters.value.call()],
  ["reduce", () => counters.value.reduce("sum")],
  ["stream", () => read(counters.watch.stream(2))],
])("%s without wait is sent at once, although an actor is being restarted", async (_, make) => {
  target(1).markDown();
  await make();
  expect(calls).toBe(3);
});

test("a call with wait is sent at once if no actor is being restarted", async () => {
  const one = counters.slice({ gpus: 0 });
  const waiting = one.increment.with({ wait: true }).callOne(5);
  expect(await one.value.callOne()).toBe(8);
  await waiting;
});

test("a stream with wait rejects if its only actor turns out to be lost with its process", async () => {
  target(0).markDown();
  const failed = failure(read(counters.slice({ gpus: 0 }).watch.with({ wait: true }).stream(1)));
  world.root.proc.peerDown(procs[0]!.proc.id, "it was killed");
  target(0).downtime!.markLost();
  const error = await failed;
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error.message).toBe("cannot call counters.watch on rank 0: it was killed");
});

test("a stream with wait rejects if the mesh was stopped while it waited", async () => {
  target(1).markDown();
  const failed = failure(read(counters.watch.with({ wait: true }).stream(1)));
  target(1).mesh.stopReason = "enough";
  target(1).markBack();
  const error = await failed;
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error.message).toContain('mesh "counters" was stopped: enough');
  expect([calls, holds]).toEqual([0, 0]);
});

test("a stream with wait that is left while it waits no longer keeps the process alive", async () => {
  target(1).markDown();
  const stream = counters.watch.with({ wait: true }).stream(1)[Symbol.asyncIterator]();
  const next = stream.next();
  await settled();
  expect(holds).toBeGreaterThan(0);
  await stream.return!();
  expect([(await next).done, holds]).toEqual([true, 0]);
  target(1).markBack();
  await settled();
  expect(calls).toBe(0);
});
