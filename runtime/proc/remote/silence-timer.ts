/**
 * Measures how long a peer has been silent. Time in which this process itself did not run (it was stopped, or the
 * machine was busy) does not count as silence: each check counts one step at most.
 */
import type { Clock, Timer } from "../../link/clock.js";

/** Number of steps until the limit is reached. */
const steps = 6;

/** Calls a function once when a peer has been silent for a time limit. */
export class SilenceTimer {
  readonly #clock: Clock;
  readonly #limit: number;
  /** The limit until the first `reset`, and `limit` after it. */
  #currentLimit: number;
  readonly #step: number;
  readonly #keepAlive: boolean;
  readonly #onTimeout: () => void;
  #silentMs = 0;
  /** The time up to which silence has been counted. */
  #countedUntil: number;
  #timer: Timer | undefined;

  /**
   * @param limit in ms
   * @param over called once, when the limit is reached
   * @param first limit in ms until the peer is heard for the first time, because it may still be starting
   * @param keepAlive whether the timer keeps the process alive until the limit is reached
   */
  constructor(clock: Clock, limit: number, over: () => void, first = limit, keepAlive = false) {
    this.#clock = clock;
    this.#keepAlive = keepAlive;
    this.#limit = limit;
    this.#step = Math.max(1, limit / steps);
    this.#currentLimit = Math.max(limit, first);
    this.#onTimeout = over;
    this.#countedUntil = clock.now();
    this.#schedule();
  }

  /** Restarts the measurement when the peer has been heard. */
  reset(): void {
    this.#silentMs = 0;
    this.#countedUntil = this.#clock.now();
    this.#currentLimit = this.#limit;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #schedule(): void {
    // Timers may fire early by a fraction of a millisecond; the rest then takes a short step and not a whole one.
    const step = Math.max(1, Math.min(this.#step, this.#currentLimit - this.#silentMs));
    const check = () => {
      const now = this.#clock.now();
      this.#silentMs += Math.min(now - this.#countedUntil, this.#step);
      this.#countedUntil = now;
      if (this.#silentMs < this.#currentLimit) this.#schedule();
      else this.#onTimeout();
    };
    this.#timer = this.#clock.after(step, check, this.#keepAlive);
  }
}
