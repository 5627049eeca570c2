/** Futures: promises that also have a timeout and a cancellation, and of which the first several can be awaited. */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Future, firstCompleted } from "../../../runtime/actor/call/future.js";
import { SupervisionError, TimeoutError } from "../../../runtime/actor/errors.js";
import { type Clock, systemClock } from "../../../runtime/link/clock.js";
import { Counter, type CounterMesh, delay, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let there: TestProc;
let counter: CounterMesh<never>;
let unhandled: unknown[];
const note = (error: unknown): void => {
  unhandled.push(error);
};
let before: NodeJS.UnhandledRejectionListener[];

beforeEach(() => {
  world = new World();
  there = world.proc("there");
  counter = world.spawn<typeof Counter, never>("counter", Counter, [0], [there], {});
  unhandled = [];
  before = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", note);
});
afterEach(() => {
  process.removeAllListeners("unhandledRejection");
  for (const listener of before) process.on("unhandledRejection", listener);
  world.close();
});

describe("a future", () => {
  test("is a promise that can be awaited, chained and combined", async () => {
    const future = counter.value.callOne();
    expect(future).toBeInstanceOf(Promise);
    expect(future).toBeInstanceOf(Future);
    expect(await Promise.all([future, future.then((n) => n + 1)])).toEqual([0, 1]);
  });

  test("is printed by inspect with its state and without its internals", async () => {
    const future = counter.value.callOne();
    expect(inspect(future)).toBe("Future { <pending> }");
    await future;
    expect(inspect({ future })).toBe("{ future: Future { <settled> } }");
  });

  test("rejects get() when the timeout of get() ends, and can still be awaited", async () => {
    const future = counter.sleep.callOne(30);
    await expect(future.get({ timeout: 5 })).rejects.toEqual(
      new TimeoutError("cannot get the answer: it did not come within 5 ms"),
    );
    expect(future.settled).toBe(false);
    expect(await future).toBe(30);
    expect(future.settled).toBe(true);
    expect(await future.get({ timeout: 5 })).toBe(30);
  });

  test("has no time limit if the timeout of get() or of the call is longer than a timer can run", async () => {
    const future = counter.sleep.with({ timeout: Number.POSITIVE_INFINITY }).callOne(20);
    expect(await future.get({ timeout: Number.POSITIVE_INFINITY })).toBe(20);
    expect(await counter.sleep.with({ timeout: 2 ** 40 }).callOne(5)).toBe(5);
  });

  test("of a call with a timeout of 0 rejects, and nothing is sent", async () => {
    const late = new TimeoutError("cannot call counter.increment: no answer within 0 ms");
    const hurried = counter.increment.with({ timeout: 0 });
    for (let i = 0; i < 20; i++) {
      await expect(hurried.callOne(1)).rejects.toEqual(late);
      await expect(hurried.call(1)).rejects.toEqual(late);
      await expect(hurried.callSettled(1)).rejects.toEqual(late);
      await expect(hurried.choose(1)).rejects.toEqual(late);
    }
    expect(() => hurried.callOne("one" as never)).toThrow("invalid int32");
    expect(await counter.value.callOne()).toBe(0);
    const first = counter.watch.with({ timeout: 0 }).stream(3)[Symbol.asyncIterator]().next();
    await expect(first).rejects.toThrow("cannot call counter.watch: no answer within 0 ms");
  });

  test("of a call to several actors with a timeout of 0 rejects, and nothing is sent", async () => {
    const counters = world.spawn("counters", Counter, [0], [there, world.proc("beside")]);
    const hurried = counters.increment.with({ timeout: 0 });
    await expect(hurried.call(1)).rejects.toThrow("cannot call counters.increment: no answer within 0 ms");
    expect([...(await counters.value.call()).values()]).toEqual([0, 0]);
  });

  test("rejects get() with a timeout of 0 unless the answer is there", async () => {
    const future = counter.value.callOne();
    await expect(future.get({ timeout: 0 })).rejects.toThrow("cannot get the answer: it did not come within 0 ms");
    await future;
    expect(await future.get({ timeout: 0 })).toBe(0);
  });

  test("refuses unknown options of with() and of get()", () => {
    const loose = counter.value as unknown as { with(options: unknown): unknown };
    expect(() => loose.with({ timeuot: 5 })).toThrow(
      'cannot call counter.value: expected one of the options timeout, signal, traceparent, wait, retry, got "timeuot"',
    );
    expect(() => loose.with(5)).toThrow("cannot call counter.value: expected options like { timeout }, got 5");
    expect(() => counter.value.callOne().get({ timeuot: 5 } as object)).toThrow(
      'cannot wait: expected the option timeout, got "timeuot"',
    );
  });

  test("that is cancelled twice rejects once, with the first reason", async () => {
    const running = counter.meanwhile.callOne(60_000);
    const reasons: Error[] = [];
    const failed = running.catch((error: Error) => void reasons.push(error));
    // The handler has started when a later message of the same sender has been answered.
    expect(await counter.value.callOne()).toBe(0);
    running.cancel();
    running.cancel();
    expect(running.settled).toBe(true);
    await failed;
    running.cancel();
    await expect(running).rejects.toBe(reasons[0]);
    expect(reasons.map(({ name, message }) => [name, message])).toEqual([["AbortError", "the call was cancelled"]]);
    expect(await counter.value.callOne()).toBe(0);
    expect(unhandled).toEqual([]);
  });

  test("keeps its answer if it is cancelled after the answer has come", async () => {
    const answered = counter.value.callOne();
    await answered;
    answered.cancel();
    expect(await answered).toBe(0);
  });
});

describe("an unhandled rejection of a call", () => {
  test("is reported to the process if the handler threw an error", async () => {
    void counter.fail.callOne("dropped");
    await until("somebody is told", () => unhandled.length > 0);
    expect(unhandled.map((e) => (e as Error).message)).toEqual(["dropped"]);
  });

  test("is not reported to the process if the actor has failed or its process is gone", async () => {
    void counter.sleep.callOne(1000);
    counter.fail.broadcast("over");
    void counter.value.callOne();
    void counter.value.call();
    await until("the actor has failed", () => there.failures().length > 0);
    await delay(10);
    world.root.proc.peerDown(there.proc.id, "gone");
    void counter.value.callOne();
    await delay(10);
    expect(unhandled).toEqual([]);
  });
});

describe("firstCompleted", () => {
  test("resolves with the first n settled futures in their order, including rejected ones", async () => {
    const slow = counter.meanwhile.callOne(60_000);
    const quick = counter.meanwhile.callOne(20);
    const failed = counter.fail.callOne("x");
    expect(await firstCompleted([slow, quick, failed], 2)).toEqual([failed, quick]);
    expect(await firstCompleted([slow, quick])).toEqual([quick]);
    expect(slow.settled).toBe(false);
    slow.cancel();
    await slow.catch(() => {});
  });

  test("refuses to wait for more futures than there are", () => {
    expect(() => firstCompleted([], 1)).toThrow(
      new RangeError("cannot wait for the first 1: expected a number from 0 to 0"),
    );
  });
});

describe("the options of with()", () => {
  test("retry repeats a call to a failed actor until the restarted actor answers", async () => {
    const mesh = world.spawn("pair", Counter, [0], [world.proc("p"), world.proc("q")]);
    const q = world.procs.get("q")!;
    const [cell] = [...q.proc.cells()];
    const one = mesh.slice({ gpus: 1 });
    one.fail.broadcast("fatal");
    const retried = one.failOnEven.with({ retry: { attempts: 9, backoff: 5 } }).callOne();
    await until("the actor has failed", () => q.failures().length > 0);
    q.proc.createActor({ ...cell!.spec, incarnation: 1, args: [0] } as never);
    await expect(retried).rejects.toThrow("even rank 0");
  });

  test("retry rejects with the last error when all attempts have failed", async () => {
    counter.fail.broadcast("fatal");
    const error = await counter.failOnEven
      .with({ retry: { attempts: 2, backoff: 1 } })
      .callOne()
      .then(undefined, (e) => e);
    expect(error).toBeInstanceOf(SupervisionError);
  });

  const failureOf = (call: Promise<unknown>): Promise<Error> => call.then(undefined, (error) => error);

  /** A world whose pauses between attempts take no time and are noted. */
  const hurry = () => {
    const pauses: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after: (ms, task, keepAlive) => {
        if (keepAlive === true) pauses.push(ms);
        return systemClock.after(keepAlive === true ? 0 : ms, task, keepAlive);
      },
    };
    const hurried = new World({}, { root: clock });
    const spawn = (actorClass: typeof Counter) =>
      hurried.spawn<typeof Counter, never>("one", actorClass, [0], [hurried.proc("p")], {}) as CounterMesh<never>;
    return { spawn, pauses, [Symbol.dispose]: () => hurried.close() };
  };
  class Hanging extends Counter {
    override failOnEven(): number {
      return new Promise(() => {}) as never;
    }
  }

  test.each([1, 3])("retry: %i makes that many attempts in total, each with the full timeout", async (attempts) => {
    using world = hurry();
    const one = world.spawn(Hanging);
    const error = await failureOf(one.failOnEven.with({ timeout: 30, retry: attempts }).callOne());
    expect(error).toEqual(new TimeoutError("cannot call one.failOnEven: no answer within 30 ms"));
    expect(world.pauses).toHaveLength(attempts - 1);
  });

  test("a retry deadline ends the attempts and the pauses between them", async () => {
    const hanging = world.spawn<typeof Hanging, never>("hanging", Hanging, [0], [world.proc("hang")], {});
    const endpoint = (hanging as CounterMesh<never>).failOnEven;
    const many = { attempts: 1_000_000, backoff: 1, deadline: 200 };
    const error = await failureOf(endpoint.with({ timeout: 5, retry: many }).callOne());
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error.message).toMatch(/^cannot call hanging\.failOnEven: no answer within 200 ms in \d+ attempts?$/);
    counter.fail.broadcast("fatal");
    const pausing = { attempts: 3, backoff: 30_000, deadline: 100 };
    const paused = await failureOf(counter.failOnEven.with({ retry: pausing }).callOne());
    expect(paused.message).toBe("cannot call counter.failOnEven: no answer within 100 ms in 1 attempt");
  });

  test("an abort signal ends the pause between attempts", async () => {
    counter.fail.broadcast("fatal");
    const given = new AbortController();
    const retry = { attempts: 3, backoff: 30_000 };
    const call = counter.failOnEven.with({ retry, signal: given.signal }).callOne();
    setTimeout(() => given.abort(new Error("enough")), 20);
    expect(await failureOf(call)).toEqual(new Error("enough"));
  });

  test("retry pauses double up to 30 s, and each is a random share between half and all of that", async () => {
    using world = hurry();
    const one = world.spawn(Counter);
    one.fail.broadcast("fatal");
    const error = await failureOf(one.failOnEven.with({ retry: { attempts: 21, backoff: 1000 } }).callOne());
    expect(error).toBeInstanceOf(SupervisionError);
    expect(world.pauses).toHaveLength(20);
    const shares = world.pauses.map((pause, i) => pause / Math.min(1000 * 2 ** i, 30_000));
    for (const share of shares) expect(share >= 0.5 && share <= 1, `${share}`).toBe(true);
    expect(new Set(shares).size).toBeGreaterThan(1);
  });

  test("invalid options are refused with an error that names the expected value", () => {
    expect(() => counter.failOnEven.with({ retry: 0 })).toThrow(
      new RangeError("cannot retry counter.failOnEven: expected at least 1 attempt, the first one included, got 0"),
    );
    expect(() => counter.failOnEven.with({ retry: { attempts: 2, deadline: 0 } })).toThrow(
      new RangeError("cannot retry counter.failOnEven: expected a deadline of more than 0 ms, got 0"),
    );
    expect(() => counter.increment.with({ retry: 3 })).toThrow(
      new TypeError("cannot retry counter.increment: it is not @idempotent"),
    );
    expect(() => counter.value.with({ timeout: Number.NaN })).toThrow(
      new RangeError("cannot wait: expected a timeout of at least 0 ms, got NaN"),
    );
    expect(() => counter.value.with({ signal: {} as AbortSignal })).toThrow(
      new TypeError("cannot call counter.value: expected an AbortSignal, got object"),
    );
  });
});
