/**
 * Messages for an actor that is not known yet: whoever sent them may have been quicker than the order to create it. They
 * are kept, as far as their senders have credit, until the mesh's owner, asked over the same link as it gives its orders,
 * says that there is no such mesh, or the actor comes.
 */
import type { Binding } from "../../link/binding.js";
import type { DeliveryError } from "../../link/errors.js";
import { Sync } from "../../link/frame.js";
import { FrameLog } from "../../link/frame-log.js";
import type { Destination, Lane } from "../../link/lane.js";
import type { Reader } from "../../wire/reader.js";
import { RefusingDestination } from "./refusing-destination.js";

export class EarlyMessages implements Destination {
  readonly #log = new FrameLog();
  /** Who has come. Lanes that were opened before, and on which nothing had come, still lead here. */
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

  /** The sender of a lane wants to know when everything that has come before has been handled. */
  confirmHandled(lane: Lane): void {
    if (this.#destination === undefined) {
      this.#log.sync(lane, Sync.reached, 0);
      return;
    }
    lane.redirect(this.#destination);
    lane.sync(Sync.reached, 0);
  }

  laneClosed(): void {}

  /** The actor has come: it gets everything, in order, and what follows. */
  release(to: Destination): void {
    this.#destination = to;
    for (const lane of this.#log.lanes()) lane.redirect(to);
    // Past a lane's gate: what is here came through it. And not always to `to`: schemas may turn out to differ.
    this.#log.release((lane) => lane.behind);
  }

  /** It will never come. */
  refuse(error: DeliveryError): void {
    this.release(new RefusingDestination(error));
  }
}
