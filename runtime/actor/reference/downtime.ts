/**
 * The time from the end of an actor until it is there again, as one process knows it: kept while the actor is down, so
 * that calls can avoid it or wait for it. How the process learns of the end and of the return is not decided here.
 */
export class Downtime {
  #isLost = false;
  #settle: (() => void) | undefined;
  #whenSettled: Promise<void> | undefined;

  /** Whether the actor is known not to come back. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether a call waits for the end of it. */
  get isAwaited(): boolean {
    return this.#whenSettled !== undefined;
  }

  /** Resolves when the actor is there again, or is known not to come back. */
  get whenSettled(): Promise<void> {
    this.#whenSettled ??= this.#isLost
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#settle = resolve;
        });
    return this.#whenSettled;
  }

  /** The actor does not come back. */
  markLost(): void {
    this.#isLost = true;
    this.#settle?.();
  }

  /** The actor is there again. */
  end(): void {
    this.#settle?.();
  }
}
