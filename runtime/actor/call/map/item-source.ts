/** Takes the items of `map` from what the user gave, one at a time, and never more than the caller asks for. */
import { describeValue } from "../../../../shared/text/describe-value.js";
import type { MapItems } from "./map-options.js";

/** Is told what happens to a source between two takes. */
export interface ItemListener {
  /** The source has an item or its end, after it had none yet. */
  itemsReady(): void;
  /** The source has thrown. No items follow. */
  itemsFailed(error: unknown): void;
}

export class ItemSource {
  readonly #next: () => IteratorResult<unknown> | PromiseLike<IteratorResult<unknown>>;
  readonly #close: () => unknown;
  readonly #listener: ItemListener;
  #isReading = false;
  /** The item that an asynchronous source has delivered, and that was not taken. */
  #ready: { readonly item: unknown } | undefined;
  #isAtEnd = false;

  /**
   * @param label the endpoint, for errors
   * @throws {TypeError} when `items` is no iterable
   */
  constructor(label: string, items: MapItems<unknown>, listener: ItemListener) {
    const iterator = openIterator(label, items);
    this.#next = () => iterator.next();
    this.#close = () => iterator.return?.();
    this.#listener = listener;
  }

  /** Whether all items have been taken. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /**
   * Takes the next item. Undefined: there is none, or none yet. The listener is then told when there is an item or the
   * end.
   */
  take(): { readonly item: unknown } | undefined {
    if (this.#ready !== undefined) {
      const ready = this.#ready;
      this.#ready = undefined;
      return ready;
    }
    if (this.#isAtEnd || this.#isReading) return undefined;
    let result: IteratorResult<unknown> | PromiseLike<IteratorResult<unknown>>;
    try {
      result = this.#next();
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
    if ("then" in result) {
      this.#isReading = true;
      result.then(
        (read) => this.#read(read),
        (error) => this.#failed(error),
      );
      return undefined;
    }
    if (result.done !== true) return { item: result.value };
    this.#isAtEnd = true;
    return undefined;
  }

  /** Tells the iterator that no more items are taken. Idempotent. */
  close(): void {
    if (this.#isAtEnd) return;
    this.#isAtEnd = true;
    try {
      // The loop of a user that is left does not see errors of `return` either if it was left by another error.
      Promise.resolve(this.#close()).catch(() => {});
    } catch {}
  }

  #read(result: IteratorResult<unknown>): void {
    this.#isReading = false;
    if (this.#isAtEnd) return;
    if (result.done === true) this.#isAtEnd = true;
    else this.#ready = { item: result.value };
    this.#listener.itemsReady();
  }

  /** An iterator that has thrown is finished, so it is not closed. */
  #failed(error: unknown): void {
    if (this.#isAtEnd) return;
    this.#isAtEnd = true;
    this.#listener.itemsFailed(error);
  }
}

function openIterator(label: string, items: unknown): Iterator<unknown> | AsyncIterator<unknown> {
  const { [Symbol.asyncIterator]: openAsync, [Symbol.iterator]: open } = Object(items) as Partial<
    Iterable<unknown> & AsyncIterable<unknown>
  >;
  if (typeof openAsync === "function") return openAsync.call(items);
  if (typeof open === "function") return open.call(items);
  throw new TypeError(`cannot map ${label}: expected an iterable of items, got ${describeValue(items)}`);
}
