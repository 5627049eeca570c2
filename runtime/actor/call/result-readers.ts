/**
 * The consumer of a stream of results: the readers that wait for results, and the error or the end that follows the
 * results. The results themselves stay with the call, which knows their order.
 */
import { lacksCallerStack, rejectWithCallerStack } from "./caller-stack.js";

type Result<T> = IteratorResult<T, undefined>;

interface WaitingReader<T> {
  readonly resolve: (result: Result<T> | Promise<never>) => void;
  readonly reject: (error: unknown) => void;
}

const doneResult: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class ResultReaders<T> {
  readonly #take: () => T | undefined;
  #waiting: WaitingReader<T>[] = [];
  /** The error that follows the results. It is reported once. */
  #error: { readonly error: unknown } | undefined;
  /** Whether nothing follows the results that have arrived, except the error. */
  #isOver = false;

  /** @param take takes the next result that has arrived; returns undefined if there is none */
  constructor(take: () => T | undefined) {
    this.#take = take;
  }

  /** Returns the next result, or waits for it. */
  next(): Promise<Result<T>> {
    const value = this.#take();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#isOver && this.#error === undefined) return Promise.resolve(doneResult);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#isOver) this.serve();
    });
  }

  /** Gives results, and what follows them, to the readers that wait. @returns whether a result was given */
  serve(): boolean {
    let hasServed = false;
    while (this.#waiting.length > 0) {
      const value = this.#take();
      if (value !== undefined) {
        hasServed = true;
        this.#waiting.shift()!.resolve({ done: false, value });
      } else if (this.#error !== undefined) {
        const { error } = this.#error;
        this.#error = undefined;
        const { resolve, reject } = this.#waiting.shift()!;
        if (lacksCallerStack(error)) resolve(rejectWithCallerStack(error));
        else reject(error);
      } else if (this.#isOver) this.#waiting.shift()!.resolve(doneResult);
      else break;
    }
    return hasServed;
  }

  /** Records that the results that have arrived are the last ones. */
  end(): void {
    this.#isOver = true;
    this.serve();
  }

  /** Records that an error follows the results that have arrived. */
  fail(error: unknown): void {
    this.#error = { error };
    this.end();
  }

  /** Ends without the error, because the consumer has left. The call has discarded its results. */
  leave(): Promise<Result<T>> {
    this.#error = undefined;
    this.end();
    return Promise.resolve(doneResult);
  }
}
