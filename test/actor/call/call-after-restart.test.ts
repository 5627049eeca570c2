/** Calls that wait for a restart, calls that are retried, and the first completed of several futures. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callAfterRestart } from "../../../runtime/actor/call/call-after-restart.js";
import type { CalledEndpoint } from "../../../runtime/actor/call/call-future.js";
import type { RetryOptions } from "../../../runtime/actor/call/call-guard.js";
import { Future, firstCompleted } from "../../../runtime/actor/call/future.js";
import { callWithRetry } from "../../../runtime/actor/call/retried-call.js";
import { TimeoutError } from "../../../runtime/actor/errors.js";
import { ManualClock } from "../../link/resumable/cut-world.js";
import { settled } from "../parts.js";
import { World } from "../world.js";

let world: World;
let clock: ManualClock;
let called: CalledEndpoint;
let held: number;
const keepAlive = { hold: () => held++, release: () => held-- };
const later = <T>() => {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((then) => {
    resolve = then;
  });
  return { promise, resolve };
};
class Made extends Future<number> {
  readonly cancelled: number[] = [];
  override cancel(): void {
    this.cancelled.push(1);
  }
}

beforeEach(() => {
  world = new World();
  clock = new ManualClock();
  held = 0;
  called = {
    label: "counters.value",
    result: undefined,
    clock,
    isInternal: false,
  } as Partial<CalledEndpoint> as CalledEndpoint;
});
afterEach(() => world.close());

describe("a call that waits for a restart", () => {
  const start = (first: Promise<unknown>, more: Promise<unknown>[], make: () => Future<number>) =>
    callAfterRestart({
      called,
      timeout: 0,
      signal: undefined,
      keepAlive: keepAlive as never,
      first,
      pendingRestart: () => more.shift(),
      make,
    });

  test("is made when no restart is pending any more, and keeps the process alive until then", async () => {
    const [first, second] = [later(), later()];
    let made = 0;
    const call = start(first.promise, [second.promise], () => {
      made++;
      return new Future((resolve) => resolve(5));
    });
    await settled();
    first.resolve(undefined);
    await settled();
    expect([made, held]).toEqual([0, 1]);
    second.resolve(undefined);
    expect(await call).toBe(5);
    expect([made, held, clock.waiting]).toEqual([1, 0, 0]);
    call.cancel();
    expect(held).toBe(0);
  });

  test("is never made if it is cancelled before, and no longer keeps the process alive", async () => {
    const first = later();
    let made = 0;
    const call = start(first.promise, [], () => {
      made++;
      return new Future((resolve) => resolve(5));
    });
    call.cancel();
    expect(held).toBe(0);
    first.resolve(undefined);
    await expect(call).rejects.toThrow("the call was cancelled");
    await settled();
    expect([made, held]).toEqual([0, 0]);
  });

  test("rejects with the error that is thrown when the call is made", async () => {
    const call = start(Promise.resolve(), [], () => {
      throw new RangeError("refused");
    });
    await expect(call).rejects.toThrow(new RangeError("refused"));
    expect(held).toBe(0);
  });

  test("cancels the call that was made when it is cancelled itself", async () => {
    const made = new Made(() => {});
    const call = start(Promise.resolve(), [], () => made);
    await settled();
    call.cancel();
    await expect(call).rejects.toThrow("the call was cancelled");
    expect(made.cancelled).toEqual([1]);
  });
});

describe("a call with retry", () => {
  test("throws the error that is thrown when its first attempt is made", () => {
    const refuse = () => {
      throw new RangeError("refused");
    };
    expect(() => callWithRetry(called, 3, undefined, refuse)).toThrow(new RangeError("refused"));
  });

  test("resolves with the answer of an attempt, and its cancellation cancels the attempt", async () => {
    expect(await callWithRetry(called, 3, undefined, () => new Future<number>((resolve) => resolve(5)))).toBe(5);
    const made = new Made(() => {});
    const call = callWithRetry(called, 3, undefined, () => made);
    call.cancel();
    await expect(call).rejects.toThrow("the call was cancelled");
    expect([made.cancelled, clock.waiting]).toEqual([[1], 0]);
  });

  /** Starts a call whose attempts end as the functions say, one after another. */
  const start = (options: number | RetryOptions, ...attempts: (() => Made)[]) => {
    const made: number[] = [];
    const signal = new AbortController();
    const call = callWithRetry(called, options, signal.signal, () => {
      made.push(made.length + 1);
      return attempts[Math.min(made.length, attempts.length) - 1]!();
    });
    return { call, made, signal };
  };
  const failing = (error: Error) => () => new Made((_, reject) => reject(error));
  const late = new TimeoutError("cannot call counters.value: no answer within 5 ms");

  test("is repeated after a timeout, but not after an error of the handler", async () => {
    const refused = new RangeError("refused");
    const { call, made } = start(5, failing(late), failing(refused));
    await settled();
    expect([made, call.settled]).toEqual([[1], false]);
    clock.pass(10);
    await expect(call).rejects.toBe(refused);
    expect([made, clock.waiting]).toEqual([[1, 2], 0]);
  });

  test("rejects with the error that is thrown when a later attempt is made", async () => {
    const { call, made } = start(5, failing(late), () => {
      throw new RangeError("refused");
    });
    await settled();
    clock.pass(10);
    await expect(call).rejects.toThrow(new RangeError("refused"));
    expect([made, clock.waiting]).toEqual([[1, 2], 0]);
  });

  test("makes no further attempt when it is given up during a pause", async () => {
    const { call, made } = start(5, failing(late));
    await settled();
    call.cancel();
    await expect(call).rejects.toThrow("the call was cancelled");
    clock.pass(60_000);
    await settled();
    expect(made).toEqual([1]);
  });

  test("makes no further attempt when it is given up before its attempt has failed", async () => {
    const attempt = later<number>();
    const { call, made } = start(5, () => new Made((resolve) => resolve(attempt.promise)));
    call.cancel();
    await expect(call).rejects.toThrow("the call was cancelled");
    attempt.resolve(Promise.reject(late) as never);
    await settled();
    expect([made, clock.waiting]).toEqual([[1], 0]);
  });

  test("can be aborted while its first attempt is being made", async () => {
    const gone = new Error("no longer needed");
    const signal = new AbortController();
    const call = callWithRetry(called, 5, signal.signal, () => {
      signal.abort(gone);
      return new Made(() => {});
    });
    await expect(call).rejects.toBe(gone);
  });

  test.each([
    [1, "1 attempt"],
    [2, "2 attempts"],
  ])("says at its deadline that it has made %i of its attempts", async (count, text) => {
    const attempts = Array.from({ length: count - 1 }, () => failing(late));
    const { call } = start({ attempts: 9, deadline: 1000 }, ...attempts, () => new Made(() => {}));
    await settled();
    clock.pass(1000);
    await expect(call).rejects.toThrow(
      new TimeoutError(`cannot call counters.value: no answer within 1000 ms in ${text}`),
    );
  });
});

describe("the result of firstCompleted", () => {
  const [never, now] = [new Promise(() => {}), Promise.resolve(1)];
  test.each([
    [[now, never], 0, []],
    [[never, now], 1, [now]],
    [[now, now], 2, [now, now]],
    [[], 0, []],
  ])("holds the futures that have settled: %#", async (futures, n, first) => {
    const completed = await firstCompleted<PromiseLike<unknown>>(futures, n);
    await settled();
    expect(completed.length).toBe(n);
    expect(completed.every((future, i) => future === first[i])).toBe(true);
  });

  test("holds no more futures than requested, although others settle too", async () => {
    const completed = await firstCompleted([now, now, now], 1);
    await settled();
    expect(completed.length).toBe(1);
  });

  test.each([-1, 1.5, 3, Number.NaN])("is a RangeError for the first %d of two futures", (n) => {
    expect(() => firstCompleted([now, now], n)).toThrow(
      new RangeError(`cannot wait for the first ${n}: expected a number from 0 to 2`),
    );
  });
});
