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

  /** Whether the current turn of the event loop has lasted for long. A loop over many files asks before it awaits a pause. */
  get isDue(): boolean {
    return this.#now() >= this.#until;
  }

  /** Resolves in a later turn of the event loop if the current one has lasted for long. */
  async pause(): Promise<void> {
    if (!this.isDue) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#until = this.#now() + TURN_MS;
  }
}
