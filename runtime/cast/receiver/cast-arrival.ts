/** A cast that has come for one actor here, and what becomes of it when its turn comes. */
import type { MessageExtension } from "../../link/frame/message-extension.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type { Session } from "../../link/outbound/session.js";
import type { CastReply } from "./cast-receiver.js";
import type { OrderedArrivals, OrderedCast } from "./ordered-arrivals.js";

export interface CastArrivalOptions {
  readonly seq: number;
  readonly index: number;
  readonly ordering: number;
  /** Of the endpoint, on the lane of casts to the actor. */
  readonly slot: (session: Session) => number;
  /** Undefined: it only keeps its place. */
  readonly body: EncodedMessage | undefined;
  readonly extension: (session: Session) => MessageExtension | undefined;
  /** Who waits for the answer; undefined: nobody. */
  readonly createReply: (() => CastReply) | undefined;
  /** It has had credit. */
  readonly onTaken: () => void;
}

export class CastArrival implements OrderedCast {
  readonly seq: number;
  readonly index: number;
  readonly ordering: number;
  readonly #options: CastArrivalOptions;
  #isCancelled = false;

  constructor(options: CastArrivalOptions) {
    const { seq, index, ordering } = options;
    this.seq = seq;
    this.index = index;
    this.ordering = ordering;
    this.#options = options;
  }

  post({ session }: OrderedArrivals): void {
    const { slot, body, extension, createReply, onTaken } = this.#options;
    if (body === undefined || this.#isCancelled) onTaken();
    else session.post(slot(session), body, extension(session), createReply?.(), { credited: onTaken });
  }

  cancel(): void {
    this.#isCancelled = true;
  }
}
