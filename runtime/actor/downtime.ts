/**
 * The time from the end of an actor until it is there again, as one process knows it: kept while the actor is down, so
 * that calls can avoid it or wait for it. How the process learns of the end and of the return is not decided here.
 */
export class Downtime {
  #lost = false;
  #settle: (() => void) | undefined;
  #settled: Promise<void> | undefined;

  /** Whether the actor is known not to come back. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Whether a call waits for the end of it. */
  get isAwaited(): boolean {
    return this.#settled !== undefined;
  }

  /** Resolves when the actor is there again, or is known not to come back. */
  get settled(): Promise<void> {
    this.#settled ??= this.#lost
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#settle = resolve;
        });
    return this.#settled;
  }

  /** The actor does not come back. */
  giveUp(): void {
    this.#lost = true;
    this.#settle?.();
  }

  /** The actor is there again. */
  end(): void {
    this.#settle?.();
  }
}
