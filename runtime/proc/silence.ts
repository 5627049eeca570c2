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
  readonly #step: number;
  readonly #over: () => void;
  #silent = 0;
  #last: number;
  #timer: Timer | undefined;

  /**
   * @param limit in ms
   * @param over called once, when it is reached
   */
  constructor(clock: Clock, limit: number, over: () => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#step = Math.max(1, limit / steps);
    this.#over = over;
    this.#last = clock.now();
    this.#wait();
  }

  /** The peer has said something. */
  heard(): void {
    this.#silent = 0;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #wait(): void {
    this.#timer = this.#clock.after(this.#step, () => {
      const now = this.#clock.now();
      this.#silent += Math.min(now - this.#last, this.#step);
      this.#last = now;
      if (this.#silent < this.#limit) this.#wait();
      else this.#over();
    });
  }
}
