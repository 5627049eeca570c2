/**
 * Calls that are made again when they fail by supervision or timeout: only endpoints that say so can be. Pauses between the
 * attempts grow, and are drawn at random, so that callers which have failed together do not come back together.
 */
import type { Random } from "../link/clock.js";
import { type Called, CallFuture } from "./call-future.js";
import { currentTurn, mainRoot } from "./context.js";
import { SupervisionError, TimeoutError } from "./errors.js";
import { type Future, timeLimit } from "./future.js";
import type { RetryOptions } from "./guard.js";
import { awaitAsPromise } from "./plain-promise.js";

const FIRST_BACKOFF_MS = 10;
const LONGEST_BACKOFF_MS = 30_000;

class Retried<T> extends CallFuture<T> {
  static {
    awaitAsPromise(Retried);
  }
  readonly #make: () => Future<T>;
  readonly #options: RetryOptions;
  readonly #random: Random;
  #made = 0;
  #current: Future<T> | undefined;

  constructor(called: Called, options: RetryOptions, random: Random, make: () => Future<T>) {
    super(called);
    this.#options = options;
    this.#random = random;
    this.#make = make;
  }

  /** @throws what making the first call throws: then it is over */
  start(): void {
    try {
      this.#attempt();
    } catch (error) {
      this.fail(error, true);
      throw error;
    }
  }

  #attempt(): void {
    this.#made++;
    const call = this.#make();
    this.#current = call;
    call.then(
      (value) => {
        if (!this.settled) this.fulfil(value);
      },
      (error) => this.#failed(error),
    );
  }

  override get waited(): string {
    return ` in ${this.#made === 1 ? "1 attempt" : `${this.#made} attempts`}${super.waited}`;
  }

  protected override release(): void {
    this.#current?.cancel();
  }

  #failed(error: unknown): void {
    if (this.settled) return;
    const mayPass = error instanceof SupervisionError || error instanceof TimeoutError;
    if (!mayPass || this.#made >= this.#options.attempts) {
      this.fail(error, error instanceof SupervisionError);
      return;
    }
    this.clock.after(this.#pause(), () => this.#again(), true);
  }

  /** Before the next attempt: between half of the back-off and all of it. */
  #pause(): number {
    const { backoff = FIRST_BACKOFF_MS } = this.#options;
    const longest = Math.min(backoff * 2 ** (this.#made - 1), LONGEST_BACKOFF_MS);
    return longest * (0.5 + this.#random.number() / 2);
  }

  #again(): void {
    if (this.settled) return;
    try {
      this.#attempt();
    } catch (error) {
      this.fail(error, false);
    }
  }
}

/** @throws what making the first call throws */
export function retried<T>(
  called: Called,
  retry: number | RetryOptions,
  signal: AbortSignal | undefined,
  make: () => Future<T>,
): Future<T> {
  const options = typeof retry === "number" ? { attempts: retry } : retry;
  const call = new Retried(called, options, mainRoot().proc.random, make);
  // Before its attempts: when it is given up, none of them is made again, and no pause is waited for.
  currentTurn()?.bind(call);
  const deadline = timeLimit(options.deadline) ?? 0;
  if (deadline > 0 || signal !== undefined) call.guard(deadline, signal);
  call.start();
  return call;
}
