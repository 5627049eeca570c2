/**
 * A stream whose items are converted one by one. Unlike an async generator, it can be left while an item is awaited, so
 * that its source stops at once.
 */
import { onAbort } from "../../abort-listeners.js";

const doneResult: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class MappedStream<T, R> implements AsyncIterableIterator<R, undefined, unknown> {
  readonly #source: AsyncIterator<T>;
  readonly #map: (item: T) => R;
  readonly #failed: (error: unknown) => R;
  #isOver = false;

  /**
   * @param map converts an item; if it throws, the stream ends with that error
   * @param failed converts the error of the source to the last item, or throws the error that the stream ends with
   * @param signal leaves the source when it is aborted
   */
  constructor(
    source: AsyncIterator<T>,
    map: (item: T) => R,
    failed: (error: unknown) => R,
    signal: AbortSignal | undefined,
  ) {
    this.#source = source;
    this.#map = map;
    this.#failed = failed;
    if (signal !== undefined) onAbort(signal, () => void this.return());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<R, undefined>> {
    if (this.#isOver) return doneResult;
    let result: IteratorResult<T>;
    try {
      result = await this.#source.next();
    } catch (error) {
      this.#isOver = true;
      return { done: false, value: this.#failed(error) };
    }
    if (result.done !== true && !this.#isOver) return { done: false, value: this.#map(result.value) };
    this.#isOver = true;
    return doneResult;
  }

  async return(): Promise<IteratorResult<R, undefined>> {
    this.#isOver = true;
    await this.#source.return?.();
    return doneResult;
  }
}
