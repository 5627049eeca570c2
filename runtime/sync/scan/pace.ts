/** Lets a process answer others during a scan. Reading thousands of files takes longer than others wait for an answer. */

/** The time in milliseconds for which a scan may occupy the process without a pause. */
const TURN_MS = 20;

/** Pauses from time to time. */
export class Pace {
  readonly #now: () => number;
  #until: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#until = now() + TURN_MS;
  }

  /** Resolves in a later turn of the event loop if the current one has lasted for long. */
  async pause(): Promise<void> {
    if (this.#now() < this.#until) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#until = this.#now() + TURN_MS;
  }
}
