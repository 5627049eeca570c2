/** A limit on how many things go on at a time; who comes when it is reached waits for its turn, first come, first served. */

export class Turns {
  #free: number;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#free = most;
  }

  /** Runs a task when it is its turn. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      this.#end();
    }
  }

  #end(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#free++;
    if (this.#free === this.#most) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Resolves when nothing goes on. */
  async idle(): Promise<void> {
    while (this.#free < this.#most) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
