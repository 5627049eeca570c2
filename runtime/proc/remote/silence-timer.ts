/**
 * Counts how long a peer has said nothing. Time in which this process itself did not run (it was stopped, or the machine was
 * busy) is no silence of the peer: no more than one step is counted at a time.
 */
import type { Clock, Timer } from "../../link/clock.js";

/** Steps in which the limit is reached. */
const steps = 6;

export class SilenceTimer {
  readonly #clock: Clock;
  readonly #limit: number;
  /** That which holds now. */
  #currentLimit: number;
  readonly #step: number;
  readonly #onTimeout: () => void;
  #silentMs = 0;
  /** Up to when time has been counted. */
  #countedUntil: number;
  #timer: Timer | undefined;

  /**
   * @param limit in ms
   * @param over called once, when it is reached
   * @param first in ms: the limit until the peer has said something for the first time, which may still have to start
   */
  constructor(clock: Clock, limit: number, over: () => void, first = limit) {
    this.#clock = clock;
    this.#limit = limit;
    this.#step = Math.max(1, limit / steps);
    this.#currentLimit = Math.max(limit, first);
    this.#onTimeout = over;
    this.#countedUntil = clock.now();
    this.#schedule();
  }

  /** The peer has said something. */
  reset(): void {
    this.#silentMs = 0;
    this.#countedUntil = this.#clock.now();
    this.#currentLimit = this.#limit;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #schedule(): void {
    // Timers come early by parts of a millisecond, too: what is left then is a short step more, and no whole one.
    this.#timer = this.#clock.after(Math.max(1, Math.min(this.#step, this.#currentLimit - this.#silentMs)), () => {
      const now = this.#clock.now();
      this.#silentMs += Math.min(now - this.#countedUntil, this.#step);
      this.#countedUntil = now;
      if (this.#silentMs < this.#currentLimit) this.#schedule();
      else this.#onTimeout();
    });
  }
}
