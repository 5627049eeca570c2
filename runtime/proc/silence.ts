/**
 * Counts how long a peer has said nothing. Time in which this process itself did not run (it was stopped, or the machine was
 * busy) is no silence of the peer: no more than one step is counted at a time.
 */
import type { Clock, Timer } from "../link/clock.js";

/** Steps in which the limit is reached. */
const steps = 6;

export class Silence {
  readonly #clock: Clock;
  readonly #limit: number;
  /** That which holds now. */
  #current: number;
  readonly #step: number;
  readonly #over: () => void;
  #silent = 0;
  /** Up to when time has been counted. */
  #last: number;
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
    this.#current = Math.max(limit, first);
    this.#over = over;
    this.#last = clock.now();
    this.#wait();
  }

  /** The peer has said something. */
  heard(): void {
    this.#silent = 0;
    this.#last = this.#clock.now();
    this.#current = this.#limit;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #wait(): void {
    // Timers come early by parts of a millisecond, too: what is left then is a short step more, and no whole one.
    this.#timer = this.#clock.after(Math.max(1, Math.min(this.#step, this.#current - this.#silent)), () => {
      const now = this.#clock.now();
      this.#silent += Math.min(now - this.#last, this.#step);
      this.#last = now;
      if (this.#silent < this.#current) this.#wait();
      else this.#over();
    });
  }
}
