/** Futures without calls: their time limits on a clock that stands still, and the rejections that nobody handles. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkTimeout, Future, SettlingFuture } from "../../../runtime/actor/call/future.js";
import { TimeoutError } from "../../../runtime/actor/errors.js";
import { type Clock, MAX_TIMER_MS } from "../../../runtime/link/clock.js";
import { StillClock, settled } from "../parts.js";
import { World } from "../world.js";

/** Notes whether its timers keep the process alive. */
class NotingClock extends StillClock {
  readonly keepingAlive: (boolean | undefined)[] = [];

  override after(ms: number, task: () => void, keepAlive?: boolean): { cancel(): void } {
    this.keepingAlive.push(keepAlive);
    return super.after(ms, task);
  }
}

let world: World;
let clock: NotingClock;
let unhandled: unknown[];
let before: NodeJS.UnhandledRejectionListener[];

beforeEach(() => {
  clock = new NotingClock();
  world = new World({}, { root: clock as Clock });
  unhandled = [];
  before = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => unhandled.push(error));
});
afterEach(() => {
  process.removeAllListeners("unhandledRejection");
  for (const listener of before) process.on("unhandledRejection", listener);
  world.close();
});

function pending<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((then, fail) => {
    resolve = then;
    reject = fail;
  });
  return { future: new SettlingFuture(promise), resolve, reject };
}

describe("get() with a time limit", () => {
  test("keeps the process alive until the answer arrives, and then stops its timer", async () => {
    const { future, resolve } = pending<number>();
    const timers = clock.waiting;
    const got = future.get({ timeout: 50 });
    expect([clock.waiting - timers, clock.keepingAlive.at(-1)]).toEqual([1, true]);
    resolve(7);
    expect(await got).toBe(7);
    await settled();
    expect(clock.waiting).toBe(timers);
  });

  test("stops its timer also when the future rejects", async () => {
    const { future, reject } = pending<number>();
    const timers = clock.waiting;
    const got = future.get({ timeout: 50 });
    reject(new RangeError("refused"));
    await expect(got).rejects.toThrow("refused");
    await settled();
    expect(clock.waiting).toBe(timers);
  });

  test("rejects when the limit is reached, and the future stays pending", async () => {
    const { future, resolve } = pending<number>();
    const got = future.get({ timeout: 50 });
    clock.pass(50);
    await expect(got).rejects.toThrow(new TimeoutError("cannot get the answer: it did not come within 50 ms"));
    expect(future.settled).toBe(false);
    resolve(7);
    expect(await future).toBe(7);
  });
});

describe("the longest timeout", () => {
  test("is that of a timer; a longer one is no limit", () => {
    expect([checkTimeout(MAX_TIMER_MS), checkTimeout(MAX_TIMER_MS + 1)]).toEqual([MAX_TIMER_MS, undefined]);
    expect([checkTimeout(0), checkTimeout(undefined)]).toEqual([0, undefined]);
    expect(() => checkTimeout("5" as never)).toThrow(
      new RangeError('cannot wait: expected a timeout of at least 0 ms, got "5"'),
    );
  });
});

describe("a future of a promise", () => {
  test("settles as the promise does", async () => {
    const one = pending<string>();
    one.resolve("answer");
    expect(await one.future).toBe("answer");
    expect(one.future.settled).toBe(true);
    const other = pending<string>();
    const refused = new RangeError("refused");
    other.reject(refused);
    await expect(other.future).rejects.toBe(refused);
    expect(other.future.settled).toBe(true);
    expect(unhandled).toEqual([]);
  });

  test("that was cancelled ignores what the promise does later", async () => {
    for (const finish of ["resolve", "reject"] as const) {
      const one = pending<string>();
      one.future.cancel();
      one[finish]("late" as never);
      await expect(one.future).rejects.toThrow("the call was cancelled");
      await settled();
    }
    expect(unhandled).toEqual([]);
  });

  test("reports its rejection as unhandled if nobody awaits it, also after a cancellation", async () => {
    const refused = new RangeError("refused");
    const one = pending<string>();
    one.reject(refused);
    await settled();
    await settled();
    expect(unhandled).toEqual([refused]);
    pending<string>().future.cancel();
    await settled();
    await settled();
    expect(unhandled.map((error) => (error as Error).name)).toEqual(["RangeError", "AbortError"]);
  });

  test("that is abandoned quietly is not reported", async () => {
    const future = new Future<string>();
    future.abandon(new Error("over"), 0, true);
    await settled();
    await settled();
    expect(unhandled).toEqual([]);
    await expect(future).rejects.toThrow("over");
  });
});
