/**
 * The agreement between a session and its receiver on the schema of each interface. As long as the receiver has not
 * answered a binding, copies of the sent messages are kept, in order, and are sent again if the receiver has another
 * schema. The session does the sending.
 */

import type { DeliveryError } from "../errors.js";
import type { MessageExtension } from "../frame/message-extension.js";
import type { SyncMark } from "./credit-queue.js";
import type { EncodedMessage } from "./encoded-message.js";
import type { MessageInterface } from "./message-sender.js";
import type { PendingCall } from "./pending-calls.js";

/** An interface that is bound to slots of a session. */
export interface NegotiatedInterface {
  readonly firstSlot: number;
  readonly interface: MessageInterface;
  /**
   * `asked`: the receiver has not answered yet, and messages are sent in the lockstep layout. An error: the receiver
   * cannot read messages of this interface.
   */
  state: "asked" | "lockstep" | "protobuf" | DeliveryError;
}

/** A copy of a sent message that the receiver may have dropped. */
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
  /** The unanswered bindings, and everything that was sent after the oldest of them. */
  #log: AgreementEntry[] = [];

  /** Whether no copies are kept and all interfaces use the lockstep layout. */
  get isSettled(): boolean {
    return this.#log.length === 0 && this.#interfaces.every(({ state }) => state === "lockstep");
  }

  /** Whether copies of sent messages must be kept. */
  get isAsking(): boolean {
    return this.#log.length > 0;
  }

  /** Notes that a binding has been sent. */
  ask(part: NegotiatedInterface): void {
    if (!this.#interfaces.includes(part)) this.#interfaces.push(part);
    this.#log.push(part);
  }

  keepCopy(sent: SentMessage | SyncMark): void {
    this.#log.push(sent);
  }

  /** Returns the interface of a slot, or undefined if the interface was agreed on before this agreement began. */
  interfaceAt(slot: number): NegotiatedInterface | undefined {
    return this.#interfaces.find(
      (part) => slot >= part.firstSlot && slot < part.firstSlot + part.interface.endpoints.length,
    );
  }

  /**
   * The receiver has the same schema.
   * @returns false if no answer to this binding was expected
   */
  confirmSame(base: number): boolean {
    const index = this.#find(base);
    if (index < 0) return false;
    (this.#log[index] as NegotiatedInterface).state = "lockstep";
    const next = this.#log.findIndex((entry, i) => i > index && isNegotiatedInterface(entry));
    this.#log = next < 0 ? [] : this.#log.slice(next);
    return true;
  }

  /**
   * The receiver has another schema.
   * @returns the interface, and everything that the receiver has dropped; undefined if no answer to this binding was
   * expected
   */
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
