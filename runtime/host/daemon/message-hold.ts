/**
 * Keeps the messages of a session to its driver while a controller takes the place of the driver. They are sent afterwards,
 * in their order.
 */
import type { Clock, Timer } from "../../link/clock.js";
import { Deferred } from "../../link/deferred.js";

export class MessageHold {
  readonly #clock: Clock;
  readonly #onTimeout: (limit: number) => void;
  #held: Deferred<void> | undefined;
  #timer: Timer | undefined;

  /** @param onTimeout called when messages were kept for too long */
  constructor(clock: Clock, onTimeout: (limit: number) => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /** Resolves when messages may be sent; undefined if they may be sent now. */
  get opened(): Promise<void> | undefined {
    return this.#held?.promise;
  }

  /** Keeps messages for `limit` ms at most, from now on. */
  hold(limit: number): void {
    this.#held ??= new Deferred();
    this.#timer?.cancel();
    this.#timer = this.#clock.after(limit, () => this.#onTimeout(limit));
  }

  /** Lets all messages pass. */
  resume(): void {
    this.#timer?.cancel();
    this.#held?.resolve();
    this.#held = undefined;
  }
}
