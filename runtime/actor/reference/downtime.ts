/**
 * The time from the end of an actor until it is back, as one process knows it. It exists while the actor is down, so
 * that calls can avoid the actor or wait for it. This class does not find out about the end or the return of the actor:
 * {@link ActorTarget} is told of both.
 */
export class Downtime {
  #isLost = false;
  #settle: (() => void) | undefined;
  #whenSettled: Promise<void> | undefined;

  /** Whether the actor is known not to come back. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether a call waits for the end of the downtime. */
  get isAwaited(): boolean {
    return this.#whenSettled !== undefined;
  }

  /** Resolves when the actor is back or is known not to come back. */
  get whenSettled(): Promise<void> {
    this.#whenSettled ??= this.#isLost
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#settle = resolve;
        });
    return this.#whenSettled;
  }

  /** Records that the actor does not come back. */
  markLost(): void {
    this.#isLost = true;
    this.#settle?.();
  }

  /** Records that the actor is back. */
  end(): void {
    this.#settle?.();
  }
}
