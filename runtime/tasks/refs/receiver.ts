/** The references that one process has to results of this one, or that are on the way to it. */
export class Receiver {
  /** The results that the process borrows. */
  readonly borrowed = new Set<number>();
  /** The number of references to each result that are in results of tasks, and that the process has not borrowed yet. */
  readonly #onTheWay = new Map<number, number>();

  has(id: number): boolean {
    return this.borrowed.has(id) || this.#onTheWay.has(id);
  }

  /** The results of which `has` returns true. */
  get all(): Iterable<number> {
    return new Set([...this.borrowed, ...this.#onTheWay.keys()]);
  }

  /** Notes that a reference is sent in the result of a task. */
  sent(id: number): void {
    this.#onTheWay.set(id, (this.#onTheWay.get(id) ?? 0) + 1);
  }

  /** Notes that such a reference has arrived. Returns false if none was on the way. */
  arrived(id: number): boolean {
    const onTheWay = this.#onTheWay.get(id);
    if (onTheWay === undefined) return false;
    if (onTheWay > 1) this.#onTheWay.set(id, onTheWay - 1);
    else this.#onTheWay.delete(id);
    return true;
  }
}
