/** Signals of calls to several actors: what is given up before it is sent, and what while it is waited for. */
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

describe("a signal that is aborted already refuses", () => {
  const signal = AbortSignal.abort(new Error("not now"));
  test.each<[string, (increment: Counting) => PromiseLike<unknown>]>([
    ["call", (increment) => increment.call()],
    ["callSettled", (increment) => increment.callSettled()],
    ["choose", (increment) => increment.choose()],
    ["stream", (increment) => increment.stream().next()],
    ["reduce", (increment) => increment.reduce("count")],
  ])("%s, and nothing is sent", async (_, call) => {
    await expect(call(counters.increment.with({ signal }))).rejects.toThrow("not now");
    await expect(call(counters.increment.with({ signal, wait: true }))).rejects.toThrow("not now");
    expect([...(await counters.value.call()).values()]).toEqual([3, 3]);
  });

  test("values of a stream, and nothing is sent", async () => {
    await expect(counters.watch.with({ signal }).stream(1).next()).rejects.toThrow("not now");
  });
});

describe("a signal that is aborted while answers are waited for gives up", () => {
  test.each<[string, (waiting: Waiting) => PromiseLike<unknown>]>([
    ["call", (waiting) => waiting.call()],
    ["callSettled", (waiting) => waiting.callSettled()],
    ["stream", (waiting) => waiting.stream().next()],
    ["reduce", (waiting) => waiting.reduce("count")],
  ])("%s, and the handlers are told", async (_, call) => {
    const stop = new AbortController();
    const answer = call(counters.untilAborted.with({ signal: stop.signal }));
    const failure = expect(answer).rejects.toThrow("enough");
    await begun(...procs);
    stop.abort(new Error("enough"));
    await failure;
    expect([...(await counters.value.call()).values()]).toEqual([3, 3]);
  });
});
