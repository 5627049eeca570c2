/**
 * A semaphore: limits the number of tasks that run at the same time. Further tasks wait in the order of their arrival.
 */

export class ConcurrencyLimit {
  #free: number;
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #idleListeners: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
    this.#free = limit;
  }

  /** Runs a task as soon as the limit allows it. */
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

  /** Resolves when no task runs. */
  async whenIdle(): Promise<void> {
    while (this.#free < this.#limit) await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }
}
