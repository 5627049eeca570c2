/** One item of a `map` and its answer, and the queue of answers that were not taken. */

/** An item that was taken from the source. */
export class MapItem {
  readonly item: unknown;
  /** The number of times that the item has been given to an actor. */
  attempts = 0;
  /** The answer, or for `mapSettled` the outcome, once `isAnswered` is true. */
  value: unknown;
  isAnswered = false;

  constructor(item: unknown) {
    this.item = item;
  }
}

export class MapResults {
  readonly #isOrdered: boolean;
  /** The items in the order of their results. Ordered: all that were taken; otherwise, those that were answered. */
  readonly #queue: MapItem[] = [];
  /** The number of items that were taken from the source and whose results were not taken. */
  #outstanding = 0;

  constructor(isOrdered: boolean) {
    this.#isOrdered = isOrdered;
  }

  get outstanding(): number {
    return this.#outstanding;
  }

  add(item: MapItem): void {
    this.#outstanding++;
    if (this.#isOrdered) this.#queue.push(item);
  }

  answered(item: MapItem, value: unknown): void {
    item.value = value;
    item.isAnswered = true;
    if (!this.#isOrdered) this.#queue.push(item);
  }

  /** Takes the next result, if it has arrived. */
  take(): MapItem | undefined {
    if (this.#queue[0]?.isAnswered !== true) return undefined;
    this.#outstanding--;
    return this.#queue.shift();
  }

  /** Gives up the items without an answer, so that the results that have arrived can be taken. */
  giveUpUnanswered(): void {
    const answered = this.#queue.filter(({ isAnswered }) => isAnswered);
    this.#queue.splice(0, this.#queue.length, ...answered);
    this.#outstanding = answered.length;
  }

  clear(): void {
    this.#queue.length = 0;
    this.#outstanding = 0;
  }
}
