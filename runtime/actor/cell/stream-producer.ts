/**
 * The producing side of a stream: takes values from the iterator of a handler, in the context of its turn, as far as the
 * credit of the consumer allows, and sends them. The stream ends when the iterator ends or throws, or when the consumer has
 * left. In the last case the method `return` of the iterator runs its finally blocks.
 */
import type { StreamSource as LinkStreamSource } from "../../link/outbound/stream-source.js";
import { startInTurn } from "../context.js";
import { answerWithError } from "./answer.js";
import { invokeHandler, promiseFrom } from "./invoke.js";
import type { Turn, TurnStream } from "./turn.js";

/** Receives the end of a turn whose handler streams. */
export interface StreamProducerOwner {
  turnEnded(turn: Turn): void;
}

/** The number of items that are sent without waiting before the event loop runs other tasks. */
const STREAK = 256;

type Step = IteratorResult<unknown> | PromiseLike<IteratorResult<unknown>>;

/** The thrown value, which may be undefined. */
interface ThrownValue {
  readonly thrown: unknown;
}

interface AnyIterator {
  next(): Step;
  return?(): unknown;
}

export class StreamProducer implements LinkStreamSource, TurnStream {
  readonly #turn: Turn;
  readonly #owner: StreamProducerOwner;
  #iterator: AnyIterator | undefined;
  /** The credit of the consumer. */
  #items: number;
  #bytes: number;
  /** Whether a step of the iterator is running or pending. `#pump` continues after it. */
  #isBusy = false;
  /** Whether the consumer has left, or the stream has failed. No more values are taken. */
  #isLeft = false;
  /** The error that the consumer gets when the generator has been left; undefined if nothing went wrong. */
  #failure: ThrownValue | undefined;
  #isOver = false;
  #streak = 0;

  constructor(turn: Turn, owner: StreamProducerOwner) {
    this.#turn = turn;
    this.#owner = owner;
    const { streamItems, streamBytes } = turn.lane.credit;
    this.#items = streamItems;
    this.#bytes = streamBytes;
  }

  start(): void {
    const turn = this.#turn;
    turn.stream = this;
    turn.lane.link.streams.set(turn.call, this);
    this.#step(invokeHandler, (returned) => {
      this.#iterator = iteratorOf(returned);
    });
    this.#pump();
  }

  credited(items: number, bytes: number): void {
    this.#items += items;
    this.#bytes += bytes;
    this.#pump();
  }

  /** Stops the stream, because its consumer has left or cannot be told anything any more. */
  leave(): void {
    this.#isLeft = true;
    this.#pump();
  }

  /** Takes values as long as there is credit and no value must be awaited. */
  #pump(): void {
    while (!this.#isBusy && !this.#isOver) {
      if (this.#isLeft) {
        this.#return();
        return;
      }
      if (this.#items <= 0 || this.#bytes <= 0) return;
      this.#step(this.#next, this.#take);
      if (++this.#streak % STREAK === 0 && !this.#isBusy) this.#pause();
    }
  }

  readonly #next = (): unknown => this.#iterator?.next();

  readonly #take = (step: unknown): void => {
    if (this.#isLeft) return;
    const { done, value } = step as IteratorResult<unknown>;
    if (done === true) {
      this.#end(undefined);
      return;
    }
    const { lane, call, handler } = this.#turn;
    try {
      const size = lane.link.sendReply(handler.item, call, false, handler.result, value);
      this.#items--;
      this.#bytes -= size;
    } catch (thrown) {
      // The value has a wrong type. The generator ends, and the consumer gets the error.
      this.#failure = { thrown };
      this.#isLeft = true;
    }
  };

  /** Runs `body` in the turn, and passes its awaited result to `take`. An error ends the stream. */
  #step(body: () => unknown, take: (result: unknown) => void): void {
    this.#isBusy = true;
    try {
      const result = startInTurn(this.#turn, body);
      const promise = promiseFrom(this.#turn, result);
      if (promise !== undefined) {
        this.#await(promise, take);
        return;
      }
      take(result);
    } catch (thrown) {
      this.#end({ thrown });
      return;
    }
    this.#isBusy = false;
  }

  #await(result: Promise<unknown>, take: (result: unknown) => void): void {
    result.then(
      (value) => {
        this.#isBusy = false;
        try {
          take(value);
        } catch (thrown) {
          this.#end({ thrown });
        }
        this.#pump();
      },
      (thrown) => this.#end({ thrown }),
    );
  }

  #pause(): void {
    this.#isBusy = true;
    this.#turn.cell.proc.clock.nextTurn(() => {
      this.#isBusy = false;
      this.#pump();
    });
  }

  /** Lets the generator run its finally blocks, then ends the stream. */
  #return(): void {
    this.#isBusy = true;
    const end = (): void => this.#end(this.#failure);
    try {
      const result = startInTurn(this.#turn, () => this.#iterator?.return?.());
      const promise = promiseFrom(this.#turn, result);
      if (promise === undefined) end();
      else promise.then(end, end);
    } catch {
      end();
    }
  }

  /** Ends the stream: tells the consumer and the mailbox. */
  #end(failure: ThrownValue | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const turn = this.#turn;
    turn.lane.link.streams.delete(turn.call);
    if (!turn.isEnded) {
      if (failure === undefined) turn.lane.link.sendEnd(turn.call);
      else answerWithError(turn, failure.thrown);
      turn.end();
    }
    this.#owner.turnEnded(turn);
  }
}

/** @throws {TypeError} when the handler has not returned an iterable */
function iteratorOf(returned: unknown): AnyIterator {
  const iterable = returned as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined;
  const iterator = iterable?.[Symbol.asyncIterator]?.() ?? iterable?.[Symbol.iterator]?.();
  if (iterator !== undefined) return iterator;
  throw new TypeError(`cannot stream: expected an iterable from the handler, got ${typeof returned}`);
}
