/** A cast that has arrived for one actor of this proc, and is posted to the actor when its turn comes. */
import type { MessageExtension } from "../../link/frame/message-extension.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type { Session } from "../../link/outbound/session.js";
import type { CastReply } from "./cast-receiver.js";
import type { OrderedArrivals, OrderedCast } from "./ordered-arrivals.js";

export interface CastArrivalOptions {
  readonly seq: number;
  readonly index: number;
  readonly ordering: number;
  /** Returns the slot of the endpoint on the lane of casts to the actor. */
  readonly slot: (session: Session) => number;
  /** The message, or undefined if the cast only keeps its place in the order. */
  readonly body: EncodedMessage | undefined;
  readonly extension: (session: Session) => MessageExtension | undefined;
  /** Creates the reply that waits for the answer, or undefined if the cast expects none. */
  readonly createReply: (() => CastReply) | undefined;
  /** Called when the cast has had credit. */
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
