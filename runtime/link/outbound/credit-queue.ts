/** Messages that wait for credit, encoded, first come first sent. Whether there is room is their session's concern. */

import type { MessageExtension } from "../frame/message-extension.js";
import type { CreditWaiter } from "./message-sender.js";
import type { PendingCall } from "./pending-calls.js";

/** The bytes of a message, and its blocks. */
export interface EncodedMessage {
  readonly bytes: Uint8Array;
  readonly blocks: readonly Uint8Array[];
  /** Of both. */
  readonly size: number;
  /** Whether this is the protobuf layout. */
  readonly isProtobuf: boolean;
}

/** A place among casts that the receiver is told of when its turn comes. */
export interface SyncMark {
  /** One of `Sync`. */
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

/** The array is cut down when so many of its first entries have been taken. */
const COMPACT_AFTER = 1024;

export class CreditQueue {
  #entries: (WaitingMessage | SyncMark | undefined)[] = [];
  #head = 0;
  #size = 0;
  /** Bytes of all bodies. */
  bytes = 0;

  get size(): number {
    return this.#size;
  }

  add(message: WaitingMessage | SyncMark): void {
    this.#entries.push(message);
    this.#size++;
    if (!isSyncMark(message)) this.bytes += message.body.size;
  }

  /** The oldest entry; there must be one. */
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

  /** Takes out the message of a call. @returns undefined: it is not here */
  remove(call: PendingCall): WaitingMessage | undefined {
    const index = this.#entries.findIndex((entry) => entry !== undefined && !isSyncMark(entry) && entry.call === call);
    if (index < 0) return undefined;
    const message = this.#entries[index] as WaitingMessage;
    this.bytes -= message.body.size;
    this.#entries[index] = undefined;
    this.#size--;
    return message;
  }

  /** Empties the queue. @returns the messages, oldest first */
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
