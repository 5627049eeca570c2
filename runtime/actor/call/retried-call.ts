/**
 * Calls with the option `retry`: they are repeated when they fail by SupervisionError or TimeoutError. Only `@idempotent`
 * endpoints allow it. The pauses between the attempts grow and are random, so that callers that have failed at the same
 * time do not retry at the same time.
 */
import type { Random } from "../../link/clock.js";
import { awaitAsPromise } from "../../plain-promise.js";
import { currentTurn, mainRoot } from "../context.js";
import { SupervisionError, TimeoutError } from "../errors.js";
import { type CalledEndpoint, CallFuture } from "./call-future.js";
import type { RetryOptions } from "./call-guard.js";
import { checkTimeout, type Future } from "./future.js";

const FIRST_BACKOFF_MS = 10;
const LONGEST_BACKOFF_MS = 30_000;

class RetriedCall<T> extends CallFuture<T> {
  static {
    awaitAsPromise(RetriedCall);
  }
  readonly #startAttempt: () => Future<T>;
  readonly #options: RetryOptions;
  readonly #random: Random;
  #attempts = 0;
  #current: Future<T> | undefined;

  constructor(called: CalledEndpoint, options: RetryOptions, random: Random, make: () => Future<T>) {
    super(called);
    this.#options = options;
    this.#random = random;
    this.#startAttempt = make;
  }

  /**
   * Makes the first attempt.
   *
   * @throws rethrows errors of the first attempt; the call has then been rejected
   */
  start(): void {
    try {
      this.#attempt();
    } catch (error) {
      this.rejectWith(error, true);
      throw error;
    }
  }

  #attempt(): void {
    this.#attempts++;
    const call = this.#startAttempt();
    this.#current = call;
    call.then(
      (value) => {
        if (!this.settled) this.fulfil(value);
      },
      (error) => this.#failed(error),
    );
  }

  override get waitText(): string {
    return ` in ${this.#attempts === 1 ? "1 attempt" : `${this.#attempts} attempts`}${super.waitText}`;
  }

  protected override onAbandoned(): void {
    this.#current?.cancel();
  }

  #failed(error: unknown): void {
    if (this.settled) return;
    const isTransient = error instanceof SupervisionError || error instanceof TimeoutError;
    if (!isTransient || this.#attempts >= this.#options.attempts) {
      this.rejectWith(error, error instanceof SupervisionError);
      return;
    }
    this.clock.after(this.#pause(), () => this.#attemptAgain(), true);
  }

  /** Returns the pause before the next attempt in milliseconds: between half of the backoff and all of it. */
  #pause(): number {
    const { backoff = FIRST_BACKOFF_MS } = this.#options;
    const longest = Math.min(backoff * 2 ** (this.#attempts - 1), LONGEST_BACKOFF_MS);
    return longest * (0.5 + this.#random.number() / 2);
  }

  #attemptAgain(): void {
    if (this.settled) return;
    try {
      this.#attempt();
    } catch (error) {
      this.rejectWith(error, false);
    }
  }
}

/**
 * Makes a call, and repeats it if it fails.
 *
 * @throws rethrows errors of the first attempt
 */
export function callWithRetry<T>(
  called: CalledEndpoint,
  retry: number | RetryOptions,
  signal: AbortSignal | undefined,
  make: () => Future<T>,
): Future<T> {
  const options = typeof retry === "number" ? { attempts: retry } : retry;
  const call = new RetriedCall(called, options, mainRoot().proc.random, make);
  // The call is registered before its attempts, so that it is abandoned first and makes no further attempt.
  currentTurn()?.addOutstanding(call);
  const deadline = checkTimeout(options.deadline) ?? 0;
  if (deadline > 0 || signal !== undefined) call.guard(deadline, signal);
  call.start();
  return call;
}
