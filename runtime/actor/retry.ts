/** Calls that are made again when they fail by supervision or timeout: only endpoints that say so can be. */
import { type Called, CallFuture } from "./call-future.js";
import { currentTurn } from "./context.js";
import { SupervisionError, TimeoutError } from "./errors.js";
import type { Future } from "./future.js";
import type { RetryOptions } from "./guard.js";
import { awaitAsPromise } from "./plain-promise.js";

const FIRST_BACKOFF_MS = 10;

class Retried<T> extends CallFuture<T> {
  static {
    awaitAsPromise(Retried);
  }
  readonly #make: () => Future<T>;
  #left: number;
  #backoff: number;
  #current: Future<T> | undefined;

  constructor(called: Called, attempts: number, backoff: number, make: () => Future<T>) {
    super(called);
    this.#left = attempts;
    this.#backoff = backoff;
    this.#make = make;
  }

  /** @throws what making the call throws */
  attempt(): void {
    const call = this.#make();
    this.#current = call;
    call.then(
      (value) => {
        if (!this.settled) this.fulfil(value);
      },
      (error) => this.#failed(error),
    );
  }

  protected override release(): void {
    this.#current?.cancel();
  }

  #failed(error: unknown): void {
    if (this.settled) return;
    const again = error instanceof SupervisionError || error instanceof TimeoutError;
    if (!again || this.#left-- === 0) {
      this.fail(error, error instanceof SupervisionError);
      return;
    }
    this.clock.after(this.#backoff, () => this.#again(), true);
    this.#backoff *= 2;
  }

  #again(): void {
    if (this.settled) return;
    try {
      this.attempt();
    } catch (error) {
      this.fail(error, false);
    }
  }
}

/** @throws what making the first call throws */
export function retried<T>(called: Called, retry: number | RetryOptions, make: () => Future<T>): Future<T> {
  const attempts = typeof retry === "number" ? retry : retry.attempts;
  const backoff = typeof retry === "number" ? FIRST_BACKOFF_MS : (retry.backoff ?? FIRST_BACKOFF_MS);
  const call = new Retried(called, attempts, backoff, make);
  // Before its attempts: when it is given up, none of them is made again.
  currentTurn()?.bind(call);
  call.attempt();
  return call;
}
