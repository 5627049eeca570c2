/**
 * The answer to a call that is yet to come: a Promise that can also be asked with a timeout and cancelled. Who fills it
 * in is told in single.ts and round.ts.
 */
import { type Clock, longestTimer } from "../../link/clock.js";
import { awaitAsPromise } from "../../plain-promise.js";
import { checkOptionNames, describeValue } from "../../shape/index.js";
import { mainClock } from "../context.js";
import { TimeoutError } from "../errors.js";
import { rejectWithCallerStack } from "./caller-stack.js";

type Settle<T> = (value: T) => void;

let resolveLast: Settle<never>;
let rejectLast: Settle<unknown>;
/** One executor for all futures: a closure for each would cost as much as the promise. */
const captureSettlers = (resolve: Settle<never>, reject: Settle<unknown>): void => {
  resolveLast = resolve;
  rejectLast = reject;
};
const ignore = (): void => {};

export interface GetOptions {
  /** Milliseconds; Infinity: none; 0: what is not there already does not come in time. */
  readonly timeout?: number;
}

export class Future<T> extends Promise<T> {
  static {
    awaitAsPromise(Future);
  }
  #settled = false;
  // Of `never`, so that a future of something narrower is one of something wider.
  readonly #resolve: Settle<never>;
  readonly #reject: Settle<unknown>;

  /** Made by calls. */
  constructor(executor?: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void) {
    super(executor ?? captureSettlers);
    this.#resolve = resolveLast;
    this.#reject = rejectLast;
  }

  /** Whether the answer, or an error, is there. */
  get settled(): boolean {
    return this.#settled;
  }

  /**
   * The answer, waited for as long as is said.
   * @throws TimeoutError (as a rejection) when it does not come in time; the future stays as it was
   * @throws RangeError if the timeout is no number of at least 0
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

  /** Gives up: the future rejects with an AbortError, and the handler's signal is aborted. Nothing if it has settled. */
  cancel(): void {
    this.abandon(new DOMException("the call was cancelled", "AbortError"), 0);
  }

  /** What is known without waiting: not the links and sessions that a call goes by. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Future { ${this.#settled ? "<settled>" : "<pending>"} }`;
  }

  protected get clock(): Clock {
    return mainClock();
  }

  /** Fills the answer in. */
  protected fulfil(value: T): void {
    this.#settled = true;
    this.#resolve(value as never);
  }

  /** @param quietly a rejection that nobody handles is no fault of the program */
  protected rejectWith(error: unknown, quietly: boolean): void {
    this.#settled = true;
    if (quietly) super.then(undefined, ignore);
    this.#reject(error);
  }

  /** The same with an error that came from elsewhere: the lines of those who await the future are added to its stack. */
  protected rejectWithCallers(error: Error, quietly: boolean): void {
    this.#settled = true;
    const silence = (): void => void super.then(undefined, ignore);
    this.#resolve(rejectWithCallerStack(error, quietly ? silence : undefined) as never);
  }

  /** Rejects with `error`, and tells those who work on the answer why; `reason` is an index of `cancelReasons`. */
  abandon(error: unknown, reason: number, quietly = false): void {
    if (this.#settled) return;
    this.onAbandoned(reason);
    this.rejectWith(error, quietly);
  }

  /** Tells those who work on the answer that nobody waits for it any more. */
  protected onAbandoned(_reason: number): void {}
}

function answerTimeoutError(timeout: number): TimeoutError {
  return new TimeoutError(`cannot get the answer: it did not come within ${timeout} ms`);
}

/**
 * How long to wait, in milliseconds, for a timeout that a user gave; undefined: for ever. More than timers can tell, 24
 * days, is for ever too: Node.js would run such a timer at once.
 * @throws RangeError
 */
export function checkTimeout(timeout: number | undefined): number | undefined {
  if (timeout === undefined) return undefined;
  if (typeof timeout === "number" && timeout >= 0) return timeout > longestTimer ? undefined : timeout;
  throw new RangeError(`cannot wait: expected a timeout of at least 0 ms, got ${describeValue(timeout)}`);
}

/**
 * Waits for the first of several futures.
 * @param n how many must have settled, with an answer or an error
 * @returns the first n, in the order in which they settled
 * @throws RangeError if there are fewer than n
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
