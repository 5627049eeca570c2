/** A limit on how many things go on at a time; who comes when it is reached waits for its turn, first come, first served. */

export class ConcurrencyLimit {
  #free: number;
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #idleListeners: (() => void)[] = [];

  constructor(most: number) {
    this.#limit = most;
    this.#free = most;
  }

  /** Runs a task when it is its turn. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      this.#finish();
    }
  }

  #finish(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#free++;
    if (this.#free === this.#limit) for (const resolve of this.#idleListeners.splice(0)) resolve();
  }

  /** Resolves when nothing goes on. */
  async whenIdle(): Promise<void> {
    while (this.#free < this.#limit) await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }
}
