/** A queue of encoded messages that wait for credit, first in, first out. The session decides when there is credit. */

import type { MessageExtension } from "../frame/message-extension.js";
import type { EncodedMessage } from "./encoded-message.js";
import type { CreditWaiter } from "./message-sender.js";
import type { PendingCall } from "./pending-calls.js";

/** A `sync` frame that waits for its turn in the queue. */
export interface SyncMark {
  /** One of `SyncKind`. */
  readonly sync: number;
  readonly casts: number;
}

export interface WaitingMessage {
  readonly slot: number;
  readonly flags: number;
  readonly body: EncodedMessage;
  readonly extension: MessageExtension | undefined;
  readonly call: PendingCall | undefined;
  readonly waiter: CreditWaiter | undefined;
}

/** The number of taken entries at the front of the array after which the array is shortened. */
const COMPACT_AFTER = 1024;

export class CreditQueue {
  #entries: (WaitingMessage | SyncMark | undefined)[] = [];
  #head = 0;
  #size = 0;
  /** The number of bytes of all queued messages. */
  bytes = 0;

  get size(): number {
    return this.#size;
  }

  add(message: WaitingMessage | SyncMark): void {
    this.#entries.push(message);
    this.#size++;
    if (!isSyncMark(message)) this.bytes += message.body.size;
  }

  /** Removes and returns the oldest entry. The queue must not be empty. */
  takeOldest(): WaitingMessage | SyncMark {
    let message: WaitingMessage | SyncMark | undefined;
    while (message === undefined) {
      message = this.#entries[this.#head];
      this.#entries[this.#head++] = undefined;
    }
    if (this.#head >= COMPACT_AFTER) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    this.#size--;
    if (!isSyncMark(message)) this.bytes -= message.body.size;
    return message;
  }

  /**
   * Removes the message of a call.
   * @returns undefined if the message is not in the queue
   */
  remove(call: PendingCall): WaitingMessage | undefined {
    const index = this.#entries.findIndex((entry) => entry !== undefined && !isSyncMark(entry) && entry.call === call);
    if (index < 0) return undefined;
    const message = this.#entries[index] as WaitingMessage;
    this.bytes -= message.body.size;
    this.#entries[index] = undefined;
    this.#size--;
    return message;
  }

  /**
   * Empties the queue.
   * @returns the messages, oldest first
   */
  takeAll(): WaitingMessage[] {
    const all = this.#entries.filter((entry): entry is WaitingMessage => entry !== undefined && !isSyncMark(entry));
    this.#entries = [];
    this.#head = 0;
    this.#size = 0;
    this.bytes = 0;
    return all;
  }
}

export function isSyncMark(entry: object): entry is SyncMark {
  return "sync" in entry;
}
