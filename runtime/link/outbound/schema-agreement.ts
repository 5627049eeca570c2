/**
 * What a session and its receiver agree on, interface by interface, and what has been sent while they had not: copies, in
 * order, which go again when the receiver turns out to have another schema. Sending is the session's business.
 */

import type { DeliveryError } from "../errors.js";
import type { MessageExtension } from "../frame/message-extension.js";
import type { EncodedMessage, SyncMark } from "./credit-queue.js";
import type { MessageInterface } from "./message-sender.js";
import type { PendingCall } from "./pending-calls.js";

/** One interface on the slots of a session. */
export interface NegotiatedInterface {
  readonly firstSlot: number;
  readonly interface: MessageInterface;
  /** `asked`: lockstep, as long as the receiver does not say otherwise. A refusal: why nothing can be sent by it. */
  state: "asked" | "lockstep" | "protobuf" | DeliveryError;
}

/** A message that the receiver may not have taken. */
export interface SentMessage {
  readonly slot: number;
  readonly flags: number;
  readonly body: EncodedMessage;
  readonly extension: MessageExtension | undefined;
  readonly call: PendingCall | undefined;
}

type AgreementEntry = NegotiatedInterface | SentMessage | SyncMark;

export class SchemaAgreement {
  readonly #interfaces: NegotiatedInterface[] = [];
  /** From the first interface on that the receiver has not answered. */
  #log: AgreementEntry[] = [];

  /** Nothing is kept, and everything is lockstep. */
  get isSettled(): boolean {
    return this.#log.length === 0 && this.#interfaces.every(({ state }) => state === "lockstep");
  }

  /** Whether what is sent must be kept. */
  get isAsking(): boolean {
    return this.#log.length > 0;
  }

  /** The receiver has been asked. */
  ask(part: NegotiatedInterface): void {
    if (!this.#interfaces.includes(part)) this.#interfaces.push(part);
    this.#log.push(part);
  }

  keepCopy(sent: SentMessage | SyncMark): void {
    this.#log.push(sent);
  }

  /** The interface that a slot belongs to, unless it was agreed before this was needed. */
  interfaceAt(slot: number): NegotiatedInterface | undefined {
    return this.#interfaces.find(
      (part) => slot >= part.firstSlot && slot < part.firstSlot + part.interface.endpoints.length,
    );
  }

  /** The receiver has the same schema. @returns whether it had been asked */
  confirmSame(base: number): boolean {
    const index = this.#find(base);
    if (index < 0) return false;
    (this.#log[index] as NegotiatedInterface).state = "lockstep";
    const next = this.#log.findIndex((entry, i) => i > index && isNegotiatedInterface(entry));
    this.#log = next < 0 ? [] : this.#log.slice(next);
    return true;
  }

  /** The receiver has another schema. @returns the interface and all that it has not taken; undefined: it was not asked */
  confirmOther(
    base: number,
  ): { readonly part: NegotiatedInterface; readonly untaken: readonly AgreementEntry[] } | undefined {
    const index = this.#find(base);
    if (index < 0) return undefined;
    const [part, ...untaken] = this.#log.slice(index) as [NegotiatedInterface, ...AgreementEntry[]];
    this.#log = [];
    return { part, untaken };
  }

  #find(base: number): number {
    return this.#log.findIndex((entry) => isNegotiatedInterface(entry) && entry.firstSlot === base);
  }
}

export function isNegotiatedInterface(
  entry: NegotiatedInterface | SentMessage | SyncMark,
): entry is NegotiatedInterface {
  return "interface" in entry;
}
