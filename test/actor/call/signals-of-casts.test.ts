/** Abort signals of calls to several actors: aborted before the call is sent, or while it waits for answers. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { begun, Counter, type CounterMesh } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let procs: TestProc[];
let counters: CounterMesh<"gpus">;

beforeEach(() => {
  world = new World();
  procs = ["a", "b"].map((name) => world.proc(name));
  counters = world.spawn("counters", Counter, [3], procs);
});
afterEach(() => world.close());

type Counting = CounterMesh<"gpus">["increment"];
type Waiting = CounterMesh<"gpus">["untilAborted"];

describe("a signal that is already aborted", () => {
  const signal = AbortSignal.abort(new Error("not now"));
  test.each<[string, (increment: Counting) => PromiseLike<unknown>]>([
    ["call", (increment) => increment.call()],
    ["callSettled", (increment) => increment.callSettled()],
    ["choose", (increment) => increment.choose()],
    ["stream", (increment) => increment.stream().next()],
    ["reduce", (increment) => increment.reduce("count")],
  ])("rejects %s, and nothing is sent", async (_, call) => {
    await expect(call(counters.increment.with({ signal }))).rejects.toThrow("not now");
    await expect(call(counters.increment.with({ signal, wait: true }))).rejects.toThrow("not now");
    expect([...(await counters.value.call()).values()]).toEqual([3, 3]);
  });

  test("rejects the first read of a stream of values", async () => {
    await expect(counters.watch.with({ signal }).stream(1).next()).rejects.toThrow("not now");
  });
});

describe("a signal that is aborted while a call waits for answers", () => {
  test.each<[string, (waiting: Waiting) => PromiseLike<unknown>]>([
    ["call", (waiting) => waiting.call()],
    ["callSettled", (waiting) => waiting.callSettled()],
    ["stream", (waiting) => waiting.stream().next()],
    ["reduce", (waiting) => waiting.reduce("count")],
  ])("rejects %s and ends the handlers", async (_, call) => {
    const stop = new AbortController();
    const answer = call(counters.untilAborted.with({ signal: stop.signal }));
    const failure = expect(answer).rejects.toThrow("enough");
    await begun(...procs);
    stop.abort(new Error("enough"));
    await failure;
    expect([...(await counters.value.call()).values()]).toEqual([3, 3]);
  });
});
