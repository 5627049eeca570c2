/** The end of a lane that leads to no actor or port. It sends each message back with the reason. */

import type { DeliveryError } from "../../link/errors.js";
import { type Binding, Layout } from "../../link/frame/binding.js";
import type { Destination, Lane } from "../../link/inbound/lane.js";
import type { Reader } from "../../wire/reader.js";
import { answerUndelivered, bounce } from "../cell/answer.js";

export class RefusingDestination implements Destination {
  readonly #error: DeliveryError;
  #senderKnows = false;

  constructor(error: DeliveryError) {
    this.#error = error;
  }

  /** Accepts every layout, because each message is refused anyway. */
  bind(lane: Lane, { layout, firstSlot }: Binding): void {
    if (layout === Layout.lockstep) lane.link.sendBound(lane.id, firstSlot, undefined);
  }

  message(lane: Lane, slot: number, call: number, _flags: number, _r: Reader, size: number): void {
    if (call === 0) bounce(lane, slot, size, this.#error);
    else answerUndelivered(lane, call, "", this.#error);
    if (this.#senderKnows) return;
    this.#senderKnows = true;
    lane.sendGone(this.#error.reason, this.#error.message);
  }

  cancel(): void {}

  laneClosed(): void {}
}
