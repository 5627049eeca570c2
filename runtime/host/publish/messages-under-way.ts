/**
 * The messages of other programs that are being handled by the meshes of this program. They can be given up, because another
 * process takes the meshes over and the answers cannot be passed on.
 */
import type { RelayedAnswer } from "../../../generated/published.js";
import { Deferred } from "../../proc/deferred.js";

export class MessagesUnderWay {
  readonly #messages = new Set<Deferred<RelayedAnswer>>();

  get count(): number {
    return this.#messages.size;
  }

  /** Follows a call until it is answered. @returns its answer, or that of `giveUp` if that comes first */
  call(answer: Promise<RelayedAnswer>): Promise<RelayedAnswer> {
    const message = this.#add();
    void answer.then((given) => {
      this.#messages.delete(message);
      message.resolve(given);
    });
    return message.promise;
  }

  /** Follows a stream until its end. */
  stream(items: AsyncIterator<RelayedAnswer, undefined>): AsyncIterableIterator<RelayedAnswer> {
    const message = this.#add();
    return new FollowedStream(items, message.promise, () => this.#messages.delete(message));
  }

  /** Answers everything that is under way with an error. */
  giveUp(why: string): void {
    const answer = { errors: [{ name: "DeliveryError", message: why }] };
    for (const message of this.#messages) message.resolve(answer);
    this.#messages.clear();
  }

  #add(): Deferred<RelayedAnswer> {
    const message = new Deferred<RelayedAnswer>();
    this.#messages.add(message);
    return message;
  }
}

class FollowedStream implements AsyncIterableIterator<RelayedAnswer> {
  readonly #items: AsyncIterator<RelayedAnswer, undefined>;
  readonly #givenUp: Promise<IteratorResult<RelayedAnswer>>;
  readonly #onEnd: () => void;
  #isOver = false;

  constructor(items: AsyncIterator<RelayedAnswer, undefined>, givenUp: Promise<RelayedAnswer>, onEnd: () => void) {
    this.#items = items;
    this.#onEnd = onEnd;
    this.#givenUp = givenUp.then((value) => {
      void this.return();
      return { done: false, value };
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<RelayedAnswer>> {
    if (this.#isOver) return { done: true, value: undefined };
    const result = await Promise.race([this.#givenUp, this.#items.next()]);
    if (result.done === true) this.#end();
    return result;
  }

  async return(): Promise<IteratorResult<RelayedAnswer>> {
    this.#end();
    await this.#items.return?.();
    return { done: true, value: undefined };
  }

  #end(): void {
    this.#isOver = true;
    this.#onEnd();
  }
}
