/**
 * What a session and its receiver agree on, interface by interface, and what has been sent while they had not: copies, in
 * order, which go again when the receiver turns out to have another schema. Sending is the session's business.
 */
import type { PendingCall } from "./calls.js";
import type { DeliveryError } from "./errors.js";
import type { Extension } from "./extension.js";
import type { Interface } from "./sending.js";
import type { Encoded, SyncMark } from "./waiting.js";

/** One interface on the slots of a session. */
export interface Part {
  readonly base: number;
  readonly interface: Interface;
  /** `asked`: lockstep, as long as the receiver does not say otherwise. A refusal: why nothing can be sent by it. */
  state: "asked" | "lockstep" | "protobuf" | DeliveryError;
}

/** A message that the receiver may not have taken. */
export interface SentMessage {
  readonly slot: number;
  readonly flags: number;
  readonly body: Encoded;
  readonly extension: Extension | undefined;
  readonly call: PendingCall | undefined;
}

type Entry = Part | SentMessage | SyncMark;

export class Agreement {
  readonly #parts: Part[] = [];
  /** From the first interface on that the receiver has not answered. */
  #log: Entry[] = [];

  /** Nothing is kept, and everything is lockstep. */
  get trivial(): boolean {
    return this.#log.length === 0 && this.#parts.every(({ state }) => state === "lockstep");
  }

  /** Whether what is sent must be kept. */
  get asking(): boolean {
    return this.#log.length > 0;
  }

  /** The receiver has been asked. */
  ask(part: Part): void {
    if (!this.#parts.includes(part)) this.#parts.push(part);
    this.#log.push(part);
  }

  keep(sent: SentMessage | SyncMark): void {
    this.#log.push(sent);
  }

  /** The interface that a slot belongs to, unless it was agreed before this was needed. */
  partOf(slot: number): Part | undefined {
    return this.#parts.find((part) => slot >= part.base && slot < part.base + part.interface.endpoints.length);
  }

  /** The receiver has the same schema. @returns whether it had been asked */
  same(base: number): boolean {
    const index = this.#find(base);
    if (index < 0) return false;
    (this.#log[index] as Part).state = "lockstep";
    const next = this.#log.findIndex((entry, i) => i > index && isPart(entry));
    this.#log = next < 0 ? [] : this.#log.slice(next);
    return true;
  }

  /** The receiver has another schema. @returns the interface and all that it has not taken; undefined: it was not asked */
  other(base: number): { readonly part: Part; readonly untaken: readonly Entry[] } | undefined {
    const index = this.#find(base);
    if (index < 0) return undefined;
    const [part, ...untaken] = this.#log.slice(index) as [Part, ...Entry[]];
    this.#log = [];
    return { part, untaken };
  }

  #find(base: number): number {
    return this.#log.findIndex((entry) => isPart(entry) && entry.base === base);
  }
}

export function isPart(entry: Part | SentMessage | SyncMark): entry is Part {
  return "interface" in entry;
}
