/** The timeout and the abort signal of a call, which can end it before its answer. Other calls have no guard. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { offAbort, onAbort } from "../../abort-listeners.js";
import type { Clock, Timer } from "../../link/clock.js";
import { parseTraceparent } from "../../link/trace-context.js";
import { checkOptionNames } from "../../shape/index.js";
import { TimeoutError } from "../errors.js";
import { checkTimeout } from "./future.js";

/** The options of `endpoint.with`. */
export interface CallOptions {
  /**
   * The time in which the answer must arrive, in milliseconds, from 0. When it has passed, the call rejects with
   * TimeoutError and the handler's signal is aborted. With 0, the call rejects without being sent. Infinity sets no
   * limit, also where the endpoint has a `@timeout`. Default: the endpoint's `@timeout`, or no limit.
   */
  readonly timeout?: number;
  /** When aborted, the call rejects with the signal's reason, and the handler's signal is aborted. */
  readonly signal?: AbortSignal;
  /**
   * The trace that the call belongs to, as the value of the header `traceparent`. Default: the trace of the running
   * handler.
   */
  readonly traceparent?: string;
  /**
   * Whether a call to an actor that is being restarted waits for the actor, instead of rejecting with SupervisionError.
   * The wait counts towards `timeout`. Default: false.
   */
  readonly wait?: boolean;
  /**
   * How often a call that fails by SupervisionError or TimeoutError is made again, on `@idempotent` endpoints only. A
   * number is the number of attempts, the first one included. With `retry`, `timeout` limits each attempt.
   */
  readonly retry?: number | RetryOptions;
}

/** The rules for repeating a call. */
export interface RetryOptions {
  /** The largest number of attempts, the first one included; at least 1. */
  readonly attempts: number;
  /**
   * The pause before the second attempt, in milliseconds, from 0. It doubles before each further attempt, up to 30
   * seconds. Each pause is drawn at random between half of this value and all of it. Default: 10.
   */
  readonly backoff?: number;
  /**
   * The time limit of all attempts and pauses together, in milliseconds, more than 0. When it has passed, the call
   * rejects with TimeoutError. Default: no limit.
   */
  readonly deadline?: number;
}

/** A call that can be abandoned. */
export interface Abandonable {
  /** @param reason an index of `cancelReasons` */
  abandon(error: unknown, reason: number): void;
}

export class CallGuard {
  readonly #call: Abandonable;
  readonly #label: string;
  readonly #clock: Clock;
  readonly #timeout: number;
  readonly #since: number;
  readonly #timer: Timer | undefined;
  readonly #signal: AbortSignal | undefined;
  /** Returns the end of the text of the TimeoutError. */
  readonly #describeWait: () => string;
  readonly #onAbort = (): void => this.#call.abandon(this.#signal?.reason, 0);

  /**
   * @param timeout in milliseconds, 0 for no limit
   * @param waited returns the end of the text of the TimeoutError
   */
  constructor(
    call: Abandonable,
    label: string,
    clock: Clock,
    timeout: number,
    signal: AbortSignal | undefined,
    waited: () => string,
  ) {
    this.#call = call;
    this.#describeWait = waited;
    this.#label = label;
    this.#clock = clock;
    this.#timeout = timeout;
    this.#since = clock.now();
    this.#signal = signal;
    if (signal !== undefined) onAbort(signal, this.#onAbort);
    if (timeout > 0) this.#timer = clock.after(timeout, () => call.abandon(this.#timeoutError(), 1));
  }

  /** The TimeoutError of the call if the timeout has passed, even if its timer has not run yet. */
  get expiredError(): TimeoutError | undefined {
    if (this.#timeout === 0 || this.#clock.now() < this.#since + this.#timeout) return undefined;
    return this.#timeoutError();
  }

  /** Removes the limits, because the call has settled. */
  dispose(): void {
    this.#timer?.cancel();
    if (this.#signal !== undefined) offAbort(this.#signal, this.#onAbort);
  }

  #timeoutError(): TimeoutError {
    return noAnswerError(this.#label, this.#timeout, this.#describeWait());
  }
}

/** @param waited the end of the text, which describes the wait */
export function noAnswerError(label: string, timeout: number, waited = ""): TimeoutError {
  return new TimeoutError(`cannot call ${label}: no answer within ${timeout} ms${waited}`);
}

/**
 * @throws {TypeError} when an option is unknown or has a wrong type, or `retry` is given for an endpoint without
 *   `@idempotent`
 * @throws {RangeError} when a number is out of range
 */
export function checkCallOptions(label: string, idempotent: boolean, options: CallOptions): void {
  checkOptionNames(`cannot call ${label}`, options, optionNames);
  const { timeout, retry, signal, traceparent, wait } = options;
  checkTimeout(timeout);
  if (wait !== undefined && typeof wait !== "boolean") {
    throw new TypeError(`cannot call ${label}: expected true or false for wait, got ${describeValue(wait)}`);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`cannot call ${label}: expected an AbortSignal, got ${typeof signal}`);
  }
  if (traceparent !== undefined && (typeof traceparent !== "string" || parseTraceparent(traceparent) === undefined)) {
    throw new TypeError(`cannot call ${label}: expected a traceparent, got ${describeValue(traceparent)}`);
  }
  if (retry === undefined) return;
  if (!idempotent) throw new TypeError(`cannot retry ${label}: it is not @idempotent`);
  if (typeof retry !== "number") checkOptionNames(`cannot retry ${label}`, retry, retryNames);
  const { attempts, backoff = 0, deadline } = typeof retry === "number" ? ({ attempts: retry } as RetryOptions) : retry;
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw new RangeError(
      `cannot retry ${label}: expected at least 1 attempt, the first one included, got ${describeValue(attempts)}`,
    );
  }
  if (deadline !== undefined && !(typeof deadline === "number" && deadline > 0)) {
    throw new RangeError(
      `cannot retry ${label}: expected a deadline of more than 0 ms, got ${describeValue(deadline)}`,
    );
  }
  if (!(typeof backoff === "number" && backoff >= 0)) {
    throw new RangeError(`cannot retry ${label}: expected backoff of at least 0 ms, got ${describeValue(backoff)}`);
  }
}

const optionNames: readonly (keyof CallOptions)[] = ["timeout", "signal", "traceparent", "wait", "retry"];
const retryNames: readonly (keyof RetryOptions)[] = ["attempts", "backoff", "deadline"];
