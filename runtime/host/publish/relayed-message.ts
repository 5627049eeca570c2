/**
 * A message to an actor of another program, from its arrival until it is answered. It can be sent again through another
 * host when the host that it was sent through is gone before the message has reached the other program.
 */
import type { RelayedAnswer, RelayedCall } from "../../../generated/published.js";
import type { Future } from "../../actor/call/future.js";
import { Deferred } from "../../link/deferred.js";
import type { AttachedHost } from "../attached/attached-host.js";

/** A message before it is sent: what its handler gave, without its place in the sequence of messages. */
export type UnsentCall = Omit<RelayedCall, "order">;

/** The queue of the messages of one mesh, as the messages see it. */
export interface MessageQueue {
  /** Handles the end of a message: it was answered, has failed or was cancelled. */
  messageEnded(message: RelayedMessage): void;
  /**
   * Handles that a message had no answer because its host is gone or does not know the mesh any more. The message is then
   * sent again or ended. Has no effect if the messages do not go through this host any more.
   */
  routeFailed(host: AttachedHost, reason: string): void;
}

export abstract class RelayedMessage {
  readonly call: UnsentCall;
  /** The number of the message among all messages to the mesh, from 1. */
  readonly sequence: number;
  /** When the message was handed over, by the proc's clock, in milliseconds. */
  readonly since: number;
  /** Whether the message counts as under way until it is answered. */
  abstract readonly isLimited: boolean;
  isEnded = false;
  protected readonly queue: MessageQueue;

  constructor(queue: MessageQueue, call: UnsentCall, sequence: number, since: number) {
    this.queue = queue;
    this.call = call;
    this.sequence = sequence;
    this.since = since;
  }

  /** Sends the message, for the first time or again. Never throws. */
  abstract sendThrough(host: AttachedHost, call: RelayedCall): void;

  /** Ends the message with an answer that the other program has not given. */
  abstract finish(answer: RelayedAnswer): void;

  /** Ends the message with an error. */
  abstract fail(error: unknown): void;

  /** Gives up the message, because its sender does not wait any more. */
  abstract cancel(): void;

  protected ended(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.queue.messageEnded(this);
  }
}

/** A call or a broadcast. */
export class RelayedSingle extends RelayedMessage {
  readonly isLimited = true;
  readonly #answer = new Deferred<RelayedAnswer>();
  #future: Future<RelayedAnswer> | undefined;

  /** Resolves with the answer. Rejects if the message could not be sent, or was cancelled. */
  get answer(): Promise<RelayedAnswer> {
    return this.#answer.promise;
  }

  sendThrough(host: AttachedHost, call: RelayedCall): void {
    let future: Future<RelayedAnswer>;
    try {
      future = host.ask((agent) => agent.relayCall.callOne(call));
    } catch (error) {
      this.fail(error);
      return;
    }
    this.#future = future;
    future.then(
      (answer) => {
        if (this.#future !== future) return;
        if (answer.ended === undefined) this.finish(answer);
        else this.queue.routeFailed(host, answer.ended);
      },
      (error) => {
        if (this.#future !== future) return;
        if (host.isLost) this.queue.routeFailed(host, goneText(host));
        else this.fail(error);
      },
    );
  }

  finish(answer: RelayedAnswer): void {
    this.#answer.resolve(answer);
    this.ended();
  }

  fail(error: unknown): void {
    this.#answer.reject(error);
    this.ended();
  }

  cancel(): void {
    const future = this.#future;
    this.#future = undefined;
    future?.cancel();
    this.fail(new DOMException("the call was cancelled", "AbortError"));
  }
}

/** The answers to one sending of a streaming call. */
interface StreamSource {
  /** Undefined if the items do not come from the other program. */
  readonly host: AttachedHost | undefined;
  readonly items: AsyncIterator<RelayedAnswer>;
}

/** A call of a streaming endpoint. Its items are the answers. */
export class RelayedStream extends RelayedMessage implements AsyncIterator<RelayedAnswer, undefined> {
  /** A stream can be long, and its items have credit of their own. */
  readonly isLimited = false;
  #source = new Deferred<StreamSource>();
  #isOpen = false;
  /** The error that follows the items that have arrived, because no more will. */
  #lost: { readonly error: unknown } | undefined;

  sendThrough(host: AttachedHost, call: RelayedCall): void {
    try {
      const answers = host.ask((agent) => agent.relayStream.stream(call));
      this.#open({ host, items: answersOf(answers) });
    } catch (error) {
      this.fail(error);
    }
  }

  finish(answer: RelayedAnswer): void {
    this.#open({ host: undefined, items: oneAnswer(answer) });
  }

  fail(error: unknown): void {
    this.#lost = { error };
    // An open source has failed as well. It ends after the items that have arrived.
    if (!this.#isOpen) this.#open({ host: undefined, items: noAnswer(error) });
  }

  cancel(): void {
    void this.return();
  }

  async next(): Promise<IteratorResult<RelayedAnswer, undefined>> {
    while (!this.isEnded) {
      const deferred = this.#source;
      const { host, items } = await deferred.promise;
      try {
        const result = await items.next();
        if (this.isEnded) break;
        if (result.done === true) this.ended();
        else if (host === undefined || result.value.ended === undefined) return { done: false, value: result.value };
        else this.#routeFailed(deferred, host, result.value.ended);
      } catch (error) {
        if (this.isEnded) break;
        if (host === undefined || !host.isLost) {
          this.ended();
          throw error;
        }
        this.#routeFailed(deferred, host, goneText(host));
      }
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<RelayedAnswer, undefined>> {
    const deferred = this.#source;
    const isOpen = this.#isOpen;
    this.ended();
    // A reader that waits for the stream to be sent is woken.
    if (isOpen) await (await deferred.promise).items.return?.();
    else this.finish({});
    return { done: true, value: undefined };
  }

  /** Reads from `source` from now on. */
  #open(source: StreamSource): void {
    if (this.#isOpen) this.#source = new Deferred();
    this.#isOpen = true;
    this.#source.resolve(source);
  }

  #routeFailed(failed: Deferred<StreamSource>, host: AttachedHost, reason: string): void {
    // The stream may have been sent again already.
    if (this.#source !== failed) return;
    if (this.#lost !== undefined) {
      this.#open({ host: undefined, items: noAnswer(this.#lost.error) });
      return;
    }
    this.#source = new Deferred();
    this.#isOpen = false;
    this.queue.routeFailed(host, reason);
  }
}

function goneText({ address }: AttachedHost): string {
  return `host ${address} is gone`;
}

/** Returns the answers of a stream without the positions of the actors. */
function answersOf(pairs: AsyncIterator<readonly [unknown, RelayedAnswer]>): AsyncIterator<RelayedAnswer> {
  return {
    async next() {
      const result = await pairs.next();
      return result.done === true ? { done: true, value: undefined } : { done: false, value: result.value[1] };
    },
    async return() {
      await pairs.return?.();
      return { done: true, value: undefined };
    },
  };
}

async function* oneAnswer(answer: RelayedAnswer): AsyncGenerator<RelayedAnswer, undefined> {
  yield answer;
}

function noAnswer(error: unknown): AsyncIterator<RelayedAnswer> {
  return { next: () => Promise.reject(error) };
}
