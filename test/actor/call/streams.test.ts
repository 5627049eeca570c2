/** Streams between actors: their values, their flow control, and all ways in which they end. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ActorError, SupervisionError } from "../../../runtime/actor/errors.js";
import { begun, Counter, type CounterMesh, delay, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let procs: TestProc[];
let counters: CounterMesh<"gpus">;

beforeEach(() => {
  world = new World({ streamItems: 8 });
  procs = [world.proc("a"), world.proc("b")];
  counters = world.spawn("counters", Counter, [3], procs);
});
afterEach(() => world.close());

test("a stream yields all values of each rank, each with the point of its rank", async () => {
  const seen: string[] = [];
  for await (const [point, value] of counters.watch.stream(20)) seen.push(`${point} ${value}`);
  expect(seen.length).toBe(40);
  expect(seen.filter((text) => text === "{'gpus': 1/2} 3").length).toBe(20);
});

test("the values of each rank arrive in the order in which it has yielded them", async () => {
  const seen: number[][] = [[], []];
  for await (const [point, value] of counters.endless.stream()) {
    seen[point.rank]!.push(value);
    if (seen.every(({ length }) => length >= 50)) break;
  }
  for (const values of seen) expect(values).toEqual(values.map((_, i) => i));
});

test("the sender of an endless stream is at most one window ahead of its consumer", async () => {
  let produced = 0;
  class Watched extends Counter {
    override async *endless(): AsyncGenerator<number> {
      for (;;) yield produced++;
    }
  }
  const watched = world.spawn<typeof Watched, never>("watched", Watched, [0], [world.proc("c")], {});
  const stream = watched.endless.stream();
  await until("it has begun", () => produced > 0);
  await delay(10);
  expect(produced).toBeLessThanOrEqual(9);
  let taken = 0;
  for await (const [, value] of stream) {
    expect(value).toBe(taken++);
    expect(produced - taken).toBeLessThanOrEqual(9);
    if (taken === 100) break;
  }
});

test("leaving the loop ends the generators and runs their finally blocks", async () => {
  let n = 0;
  for await (const _ of counters.endless.stream()) if (++n === 50) break;
  expect([...(await counters.streamEnded.call()).values()]).toEqual([true, true]);
});

test("a stream that was never iterated over can be left, and its generators end", async () => {
  const stream = counters.endless.stream();
  await begun(...procs);
  await stream.return?.();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  expect([...(await counters.streamEnded.call()).values()]).toEqual([true, true]);
});

test("a loop yields the values that precede an error, and then throws the error", async () => {
  const seen: number[] = [];
  const error = await (async () => {
    for await (const [, value] of counters.slice({ gpus: 1 }).failingStream.stream(3)) seen.push(value);
  })().then(undefined, (e) => e);
  expect(seen).toEqual([0, 1, 2]);
  expect(error).toBeInstanceOf(ActorError);
  expect(error.message).toBe("stream broke");
  expect(await counters.slice({ gpus: 1 }).value.callOne()).toBe(3);
});

test("an actor handles its next message only after its stream has ended", async () => {
  const one = counters.slice({ gpus: 0 });
  const stream = one.endless.stream();
  const value = one.value.callOne();
  await delay(5);
  expect(value.settled).toBe(false);
  await stream.return?.();
  expect(await value).toBe(3);
});

test("a timeout ends the stream and its generators", async () => {
  const seen: number[] = [];
  const error = await (async () => {
    for await (const [, value] of counters.endless.with({ timeout: 500 }).stream()) {
      seen.push(value);
      await delay(1);
    }
  })().then(undefined, (e) => e);
  expect(error.message).toBe("cannot call counters.endless: no answer within 500 ms");
  expect(seen.length).toBeGreaterThan(0);
  expect([...(await counters.streamEnded.call()).values()]).toEqual([true, true]);
});

test("a loop throws a SupervisionError when the actor fails during the stream", async () => {
  class Failing extends Counter {
    override async *endless(): AsyncGenerator<number> {
      yield 1;
      procs[0]!.proc.cell(mesh)!.fail({ kind: "killed", error: new Error("ordered"), at: 0 });
      await delay(1000);
    }
  }
  const failing = world.spawn<typeof Failing, never>("failing", Failing, [0], [procs[0]!], {});
  const mesh = [...procs[0]!.proc.cells()].at(-1)!.mesh;
  const error = await (async () => {
    for await (const [, value] of failing.endless.stream()) expect(value).toBe(1);
  })().then(undefined, (e) => e);
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error.message).toBe("cannot call failing.endless on rank 0: the actor failing[0] has failed: Error: ordered");
});

test("a value of a wrong type ends the stream with a CodecError and ends the generator", async () => {
  let ended = false;
  class Wrong extends Counter {
    override async *watch(): AsyncGenerator<number> {
      try {
        yield 1;
        yield "two" as unknown as number;
        yield 3;
      } finally {
        ended = true;
      }
    }
  }
  const wrong = world.spawn<typeof Wrong, never>("wrong", Wrong, [0], [procs[0]!], {});
  const seen: number[] = [];
  const error = await (async () => {
    for await (const [, value] of wrong.watch.stream(3)) seen.push(value);
  })().then(undefined, (e) => e);
  expect(seen).toEqual([1]);
  expect(error.remoteName).toBe("CodecError");
  expect(ended).toBe(true);
});
