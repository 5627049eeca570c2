/** Tells those who serve blobs which ones have arrived at this host, so that a blob is passed on as soon as it is verified. */
import type { Digest } from "../tree/digest.js";

/** Somebody who waits for blobs. */
export interface Waiter {
  /** A blob is in the store. */
  arrived(digest: Digest): void;
  /** This host will not get the tree. */
  failed(reason: string): void;
}

export class Arrivals {
  readonly #waiters = new Map<Digest, Set<Waiter>>();
  readonly #failures = new Map<Digest, string>();

  /**
   * Adds somebody who waits for blobs of a tree.
   *
   * @returns ends the waiting
   */
  wait(tree: Digest, waiter: Waiter): () => void {
    const failure = this.#failures.get(tree);
    if (failure !== undefined) waiter.failed(failure);
    const waiters = this.#waiters.get(tree) ?? new Set();
    this.#waiters.set(tree, waiters);
    waiters.add(waiter);
    return () => {
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiters.get(tree) === waiters) this.#waiters.delete(tree);
    };
  }

  /** Says that this host fetches a tree, perhaps once more after a failure. */
  begin(tree: Digest): void {
    this.#failures.delete(tree);
  }

  arrived(tree: Digest, blob: Digest): void {
    for (const waiter of this.#waiters.get(tree) ?? []) waiter.arrived(blob);
  }

  /** Says that this host will not get a tree. Those who wait for it look elsewhere. */
  failed(tree: Digest, reason: string): void {
    this.#failures.set(tree, reason);
    for (const waiter of this.#waiters.get(tree) ?? []) waiter.failed(reason);
  }
}
