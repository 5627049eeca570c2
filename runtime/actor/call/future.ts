/**
 * Futures: promises of answers that can also be awaited with a time limit, and cancelled. The subclasses in call-future.ts
 * settle them.
 */
import { describeValue } from "../../../shared/text/describe-value.js";
import { type Clock, MAX_TIMER_MS } from "../../link/clock.js";
import { awaitAsPromise } from "../../plain-promise.js";
import { checkOptionNames } from "../../shape/index.js";
import { mainClock } from "../context.js";
import { TimeoutError } from "../errors.js";
import { rejectWithCallerStack } from "./caller-stack.js";

type Settle<T> = (value: T) => void;

let resolveLast: Settle<never>;
let rejectLast: Settle<unknown>;
/** The executor of all futures. A closure for each future would cost as much as the promise. */
const captureSettlers = (resolve: Settle<never>, reject: Settle<unknown>): void => {
  resolveLast = resolve;
  rejectLast = reject;
};
const ignore = (): void => {};

/** The options of `Future.get` and `PortReceiver.recv`. */
export interface GetOptions {
  /**
   * The longest time to wait, in milliseconds, from 0. With 0, only a value that has already arrived counts. Without a
   * timeout, or with Infinity, the wait has no limit.
   */
  readonly timeout?: number;
}

/**
 * The answer of a call: a promise that can also be waited for with a time limit, and cancelled.
 *
 * @example
 * ```ts
 * import { type Future, TimeoutError } from "viceroy";
 *
 * async function describe(answer: Future<number>): Promise<string> {
 *   try {
 *     return String(await answer.get({ timeout: 500 }));
 *   } catch (error) {
 *     if (!(error instanceof TimeoutError)) throw error;
 *     // The future is still usable: the answer may arrive later.
 *     answer.cancel();
 *     return "no answer within 500 ms";
 *   }
 * }
 * ```
 */
export class Future<T> extends Promise<T> {
  static {
    awaitAsPromise(Future);
  }
  #settled = false;
  // The parameter type `never` makes Future covariant: a future of a narrower type is assignable to a wider one.
  readonly #resolve: Settle<never>;
  readonly #reject: Settle<unknown>;

  /**
   * Called by adverbs.
   *
   * @hidden
   */
  constructor(executor?: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void) {
    super(executor ?? captureSettlers);
    this.#resolve = resolveLast;
    this.#reject = rejectLast;
  }

  /** Whether the answer or an error has arrived. */
  get settled(): boolean {
    return this.#settled;
  }

  /**
   * Waits for the answer, for a limited time.
   *
   * @param options the time limit
   * @returns the answer
   * @throws {TimeoutError} as a rejection, when the answer does not arrive in time; the future stays usable
   * @throws {RangeError} when the timeout is not a number of at least 0
   */
  get(options: GetOptions = {}): Promise<T> {
    checkOptionNames("cannot wait", options, ["timeout"]);
    const timeout = checkTimeout(options.timeout);
    if (timeout === undefined || this.#settled) return this.then();
    if (timeout === 0) return Promise.reject(answerTimeoutError(0));
    return new Promise((resolve, reject) => {
      const timer = this.clock.after(timeout, () => reject(answerTimeoutError(timeout)), true);
      const done = (): void => timer.cancel();
      this.then(resolve, reject);
      this.then(done, done);
    });
  }

  /**
   * Gives up the call: the future rejects with an AbortError, and the signal of the handler is aborted. It does nothing
   * if the future has settled.
   */
  cancel(): void {
    this.abandon(new DOMException("the call was cancelled", "AbortError"), 0);
  }

  /** Prints only the state, because the links and sessions of the call would make the output long. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Future { ${this.#settled ? "<settled>" : "<pending>"} }`;
  }

  /**
   * The clock that time limits are measured with.
   *
   * @hidden
   */
  protected get clock(): Clock {
    return mainClock();
  }

  /**
   * Resolves the future.
   *
   * @hidden
   */
  protected fulfil(value: T): void {
    this.#settled = true;
    this.#resolve(value as never);
  }

  /**
   * Rejects the future.
   *
   * @hidden
   * @param quietly whether the rejection, if nobody handles it, is not reported as unhandled
   */
  protected rejectWith(error: unknown, quietly: boolean): void {
    this.#settled = true;
    if (quietly) super.then(undefined, ignore);
    this.#reject(error);
  }

  /**
   * Rejects the future with an error of another process. The stack of the error is extended by the lines that await the
   * future.
   *
   * @hidden
   * @param quietly whether the rejection, if nobody handles it, is not reported as unhandled
   */
  protected rejectWithCallers(error: Error, quietly: boolean): void {
    this.#settled = true;
    const silence = (): void => void super.then(undefined, ignore);
    this.#resolve(rejectWithCallerStack(error, quietly ? silence : undefined) as never);
  }

  /**
   * Rejects the future, and tells the actors that work on the answer why.
   *
   * @hidden
   * @param reason an index of `cancelReasons`
   * @param quietly whether the rejection, if nobody handles it, is not reported as unhandled
   */
  abandon(error: unknown, reason: number, quietly = false): void {
    if (this.#settled) return;
    this.onAbandoned(reason);
    this.rejectWith(error, quietly);
  }

  /**
   * Tells the actors that work on the answer that nobody waits for it any more.
   *
   * @hidden
   */
  protected onAbandoned(_reason: number): void {}
}

/** A future that settles as a promise of the runtime does. */
export class SettlingFuture<T> extends Future<T> {
  static {
    awaitAsPromise(SettlingFuture);
  }

  constructor(promise: Promise<T>) {
    super();
    promise.then(
      (value) => {
        if (!this.settled) this.fulfil(value);
      },
      (error) => {
        if (!this.settled) this.rejectWith(error, false);
      },
    );
  }
}

function answerTimeoutError(timeout: number): TimeoutError {
  return new TimeoutError(`cannot get the answer: it did not come within ${timeout} ms`);
}

/**
 * Checks a timeout that a user has given.
 *
 * @returns the timeout in milliseconds, or undefined for no limit. A timeout of more than 24 days is no limit, because
 *   Node.js would run such a timer at once
 * @throws {RangeError} when the timeout is not a number of at least 0
 */
export function checkTimeout(timeout: number | undefined): number | undefined {
  if (timeout === undefined) return undefined;
  if (typeof timeout === "number" && timeout >= 0) return timeout > MAX_TIMER_MS ? undefined : timeout;
  throw new RangeError(`cannot wait: expected a timeout of at least 0 ms, got ${describeValue(timeout)}`);
}

/**
 * Waits until `n` of several futures have settled.
 *
 * @example
 * ```ts
 * import { type Future, firstCompleted } from "viceroy";
 *
 * declare const answers: Future<number>[];
 * const [first] = await firstCompleted(answers);
 * ```
 *
 * @param futures the futures to wait for
 * @param n number of futures that must have settled, from 0 to the number of futures
 * @returns the first `n` futures, in the order in which they settled; some may have rejected
 * @throws {RangeError} when `n` is out of range
 */
export function firstCompleted<F extends PromiseLike<unknown>>(futures: Iterable<F>, n = 1): Promise<F[]> {
  const all = [...futures];
  if (!Number.isInteger(n) || n < 0 || n > all.length) {
    throw new RangeError(`cannot wait for the first ${n}: expected a number from 0 to ${all.length}`);
  }
  const completed: F[] = [];
  return new Promise((resolve) => {
    if (n === 0) resolve(completed);
    for (const future of all) {
      const done = (): void => {
        if (completed.length >= n) return;
        completed.push(future);
        if (completed.length === n) resolve(completed);
      };
      future.then(done, done);
    }
  });
}
