/**
 * Early messages: messages for an actor that this process does not know yet. They can arrive before the order to create
 * the actor. They are kept, as far as the credit of their senders allows, until the actor is created or the owner of
 * the mesh says that there is no such mesh. The owner is asked over the link on which it sends its orders, so its
 * answer cannot overtake an order.
 */

import type { DeliveryError } from "../../link/errors.js";
import type { Binding } from "../../link/frame/binding.js";
import { SyncKind } from "../../link/frame/frame.js";
import { HeldFrames } from "../../link/inbound/held-frames.js";
import type { Destination, Lane } from "../../link/inbound/lane.js";
import type { Reader } from "../../wire/reader.js";
import { RefusingDestination } from "./refusing-destination.js";

export class EarlyMessages implements Destination {
  readonly #log = new HeldFrames();
  /** The actor, once it exists. Lanes that were opened before and had no messages then still lead to this object. */
  #destination: Destination | undefined;

  bind(lane: Lane, binding: Binding): void {
    if (this.#destination !== undefined) {
      lane.redirect(this.#destination);
      this.#destination.bind(lane, binding);
      return;
    }
    this.#log.bind(lane, binding);
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    if (this.#destination !== undefined) {
      lane.redirect(this.#destination);
      this.#destination.message(lane, slot, call, flags, r, size);
      return;
    }
    this.#log.message(lane, slot, call, flags, r, size);
  }

  cancel(lane: Lane, call: number, reason: number): void {
    if (this.#destination !== undefined) this.#destination.cancel(lane, call, reason);
    else this.#log.cancel(lane, call, reason);
  }

  /** Answers the sender of a lane, which asks to be told when all earlier messages on it are handled. */
  confirmHandled(lane: Lane): void {
    if (this.#destination === undefined) {
      this.#log.sync(lane, SyncKind.reached, 0);
      return;
    }
    lane.redirect(this.#destination);
    lane.syncReceived(SyncKind.reached, 0);
  }

  laneClosed(): void {}

  /** Passes everything to `to`, in order: the messages that have arrived, and later ones. */
  release(to: Destination): void {
    this.#destination = to;
    for (const lane of this.#log.lanes()) lane.redirect(to);
    // The messages passed their lane's gate when they arrived, so they bypass it now. The destination is not always
    // `to`: the schemas may turn out to differ.
    this.#log.release((lane) => lane.finalDestination);
  }

  /** Refuses everything, because the actor will never exist. */
  refuse(error: DeliveryError): void {
    this.release(new RefusingDestination(error));
  }
}
