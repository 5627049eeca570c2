/**
 * The borrows of this process of which the owners do not know yet. Whoever has passed a reference on keeps it until the owner knows of
 * the new borrower: messages of different processes overtake each other, and the owner would free the value in between.
 */
export class BorrowAcknowledgements {
  readonly #pending = new Map<Promise<void>, bigint>();

  /** Adds a borrow from a process. Returns what is called when the owner knows of it, or has ended. */
  add(owner: bigint): () => void {
    let acknowledge: () => void;
    const acknowledged = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    this.#pending.set(acknowledged, owner);
    return () => {
      this.#pending.delete(acknowledged);
      acknowledge();
    };
  }

  /**
   * Resolves when the owners know of all borrows until now. Undefined: they do.
   *
   * @param except a process that learns of them without being waited for, because it gets all messages of this one in order
   */
  until(except?: bigint): Promise<unknown> | undefined {
    if (this.#pending.size === 0) return undefined;
    const awaited = [...this.#pending].filter(([, owner]) => owner !== except);
    return awaited.length === 0 ? undefined : Promise.all(awaited.map(([acknowledged]) => acknowledged));
  }
}
