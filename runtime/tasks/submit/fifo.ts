/** A queue whose first entries are taken in constant time. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Puts an item that was taken back: behind the first items that come before it, and before all others. */
  putBack(item: T, comesBefore: (first: T, second: T) => boolean): void {
    if (this.#head === 0) this.#items.unshift(undefined);
    else this.#head--;
    let at = this.#head;
    for (; at + 1 < this.#items.length && comesBefore(this.#items[at + 1]!, item); at++) {
      this.#items[at] = this.#items[at + 1];
    }
    this.#items[at] = item;
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head === this.#items.length) return undefined;
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Removes an item. Returns whether it was there. */
  remove(item: T): boolean {
    const at = this.#items.indexOf(item, this.#head);
    if (at < 0) return false;
    this.#items.splice(at, 1);
    return true;
  }

  /** Removes and returns all items. */
  takeAll(): T[] {
    const all = this.#items.slice(this.#head) as T[];
    this.#items = [];
    this.#head = 0;
    return all;
  }
}
