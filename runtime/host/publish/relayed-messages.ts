/**
 * Sends the messages to a mesh of another program through a host. The number of messages and bytes that are under way is
 * bounded: further messages wait here in their order, and hold the credit of their senders.
 */
import type { RelayedAnswer, RelayedCall } from "../../../generated/published.js";
import type { Future } from "../../actor/call/future.js";
import { Deferred } from "../../proc/deferred.js";
import type { AttachedHost } from "../attached/attached-host.js";

/** The largest number and size of messages under way to one mesh. */
const MOST_MESSAGES = 4096;
const MOST_BYTES = 16 * 1024 * 1024;

/** A message under way, or one that waits to be sent. */
export interface RelayedMessage {
  /** Resolves with the answer. Rejects if the host cannot be reached, or the call was cancelled. */
  readonly answer: Promise<RelayedAnswer>;
  /** Gives up the call. */
  cancel(): void;
}

class WaitingMessage implements RelayedMessage {
  readonly call: RelayedCall;
  isCancelled = false;
  #future: Future<RelayedAnswer> | undefined;
  readonly #answer = new Deferred<RelayedAnswer>();

  constructor(call: RelayedCall) {
    this.call = call;
  }

  get answer(): Promise<RelayedAnswer> {
    return this.#answer.promise;
  }

  /** Sends the message, now that there is room for it. */
  send(sendNow: (call: RelayedCall) => Future<RelayedAnswer>): void {
    try {
      this.#future = sendNow(this.call);
      this.#future.then(
        (answer) => this.#answer.resolve(answer),
        (error) => this.#answer.reject(error),
      );
    } catch (error) {
      this.#answer.reject(error);
    }
  }

  cancel(): void {
    this.isCancelled = true;
    if (this.#future !== undefined) this.#future.cancel();
    else this.#answer.reject(new DOMException("the call was cancelled", "AbortError"));
  }
}

export class RelayedMessages {
  readonly #host: AttachedHost;
  #messages = 0;
  #bytes = 0;
  #waiting: WaitingMessage[] = [];

  constructor(host: AttachedHost) {
    this.#host = host;
  }

  send(call: RelayedCall): RelayedMessage {
    if (this.#waiting.length === 0 && this.#hasRoom) {
      const future = this.#sendNow(call);
      return { answer: future, cancel: () => future.cancel() };
    }
    const waiting = new WaitingMessage(call);
    this.#waiting.push(waiting);
    return waiting;
  }

  get #hasRoom(): boolean {
    return this.#messages < MOST_MESSAGES && this.#bytes < MOST_BYTES;
  }

  #sendNow(call: RelayedCall): Future<RelayedAnswer> {
    const size = call.args.length;
    const future = this.#host.ask((agent) => agent.relayCall.callOne(call));
    this.#messages++;
    this.#bytes += size;
    const ended = () => {
      this.#messages--;
      this.#bytes -= size;
      this.#sendWaiting();
    };
    future.then(ended, ended);
    return future;
  }

  #sendWaiting(): void {
    let sent = 0;
    for (const waiting of this.#waiting) {
      if (!waiting.isCancelled) {
        if (!this.#hasRoom) break;
        waiting.send((call) => this.#sendNow(call));
      }
      sent++;
    }
    this.#waiting = this.#waiting.slice(sent);
  }
}
