/** What may end a call before its answer: a timeout, an abort signal. Made only for calls that have one. */
import { offAbort, onAbort } from "../../abort-listeners.js";
import type { Clock, Timer } from "../../link/clock.js";
import { parseTraceparent } from "../../link/trace.js";
import { checkOptionNames, describeValue } from "../../shape/index.js";
import { TimeoutError } from "../errors.js";
import { checkTimeout } from "./future.js";

/** What `with` takes. */
export interface CallOptions {
  /**
   * Milliseconds until the call rejects with TimeoutError and the handler's signal is aborted. Infinity: none, whatever `@timeout` says.
   * 0: no time at all, so the call rejects without being sent.
   */
  readonly timeout?: number;
  /** Aborting it rejects the call with its reason and aborts the handler's signal. */
  readonly signal?: AbortSignal;
  /** The trace that the call belongs to, as the header of that name has it, instead of that of the running handler. */
  readonly traceparent?: string;
  /**
   * A call to an actor that is being restarted waits until it is there again, instead of rejecting with SupervisionError.
   * The time it waits counts towards `timeout`.
   */
  readonly wait?: boolean;
  /**
   * Only on `@idempotent` endpoints: a call that fails by SupervisionError or TimeoutError is made again. A number is that
   * of the attempts, the first one included. With it, `timeout` is the time of each attempt.
   */
  readonly retry?: number | RetryOptions;
}

export interface RetryOptions {
  /** How often the call is made at most, the first time included; at least 1. */
  readonly attempts: number;
  /**
   * Milliseconds before the second attempt, doubled before each further one, up to 30 s; each pause is drawn between half
   * of that and all of it. Default 10.
   */
  readonly backoff?: number;
  /** Milliseconds for all attempts and pauses together, after which the call rejects with TimeoutError. Default: no limit. */
  readonly deadline?: number;
}

/** Who can be given up: `reason` is an index of `cancelReasons`. */
export interface Abandonable {
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
  /** Describes the wait, for the text of its error. */
  readonly #describeWait: () => string;
  readonly #onAbort = (): void => this.#call.abandon(this.#signal?.reason, 0);

  /**
   * @param timeout in milliseconds, 0: none
   * @param waited asked when the time is over; its text follows the error's
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

  /** What the call fails with by itself from now on, although nobody has come to say so yet. */
  get expiredError(): TimeoutError | undefined {
    if (this.#timeout === 0 || this.#clock.now() < this.#since + this.#timeout) return undefined;
    return this.#timeoutError();
  }

  /** The call has been settled. */
  dispose(): void {
    this.#timer?.cancel();
    if (this.#signal !== undefined) offAbort(this.#signal, this.#onAbort);
  }

  #timeoutError(): TimeoutError {
    return noAnswerError(this.#label, this.#timeout, this.#describeWait());
  }
}

/** @param waited what else is known of the wait; it follows the text */
export function noAnswerError(label: string, timeout: number, waited = ""): TimeoutError {
  return new TimeoutError(`cannot call ${label}: no answer within ${timeout} ms${waited}`);
}

/** @throws RangeError, TypeError */
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
