/**
 * Messages for an actor that is not known yet: whoever sent them may have been quicker than the order to create it. They
 * are kept, as far as their senders have credit, until the mesh's owner, asked over the same link as it gives its orders,
 * says that there is no such mesh, or the actor comes.
 */
import type { Binding } from "../link/binding.js";
import type { DeliveryError } from "../link/errors.js";
import { copyBytes } from "../link/frame.js";
import type { Destination, Lane } from "../link/lane.js";
import { Reader } from "../wire/reader.js";
import { Refusal } from "./refusal.js";

type HeldFrame =
  | { readonly kind: "bind"; readonly lane: Lane; readonly binding: Binding }
  | { readonly kind: "cancel"; readonly lane: Lane; readonly call: number; readonly reason: number }
  | {
      readonly kind: "message";
      readonly lane: Lane;
      readonly slot: number;
      readonly call: number;
      readonly flags: number;
      readonly bytes: Uint8Array;
      readonly blocks: readonly Uint8Array[] | undefined;
      readonly size: number;
    };

export class Held implements Destination {
  readonly #lanes = new Set<Lane>();
  #frames: HeldFrame[] = [];
  /** Who has come. Lanes that were opened before, and on which nothing had come, still lead here. */
  #to: Destination | undefined;

  bind(lane: Lane, binding: Binding): void {
    if (this.#to !== undefined) {
      lane.destination = this.#to;
      this.#to.bind(lane, binding);
      return;
    }
    this.#lanes.add(lane);
    this.#frames.push({ kind: "bind", lane, binding });
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    if (this.#to !== undefined) {
      lane.destination = this.#to;
      this.#to.message(lane, slot, call, flags, r, size);
      return;
    }
    const bytes = Buffer.from(copyBytes(r.bytes, r.position, r.end).buffer);
    this.#frames.push({ kind: "message", lane, slot, call, flags, bytes, blocks: r.blocks, size });
  }

  cancel(lane: Lane, call: number, reason: number): void {
    if (this.#to !== undefined) {
      this.#to.cancel(lane, call, reason);
      return;
    }
    this.#frames.push({ kind: "cancel", lane, call, reason });
  }

  laneClosed(lane: Lane): void {
    this.#lanes.delete(lane);
  }

  /** The actor has come: it gets everything, in order, and what follows. */
  release(to: Destination): void {
    this.#to = to;
    const r = new Reader();
    for (const lane of this.#lanes) lane.destination = to;
    for (const { lane } of this.#frames) lane.destination = to;
    for (const frame of this.#frames) {
      const { lane } = frame;
      // Not always `to`: it may take nothing more before the sender knows that schemas differ.
      const { destination } = lane;
      if (frame.kind === "bind") destination.bind(lane, frame.binding);
      else if (frame.kind === "cancel") destination.cancel(lane, frame.call, frame.reason);
      else {
        const { bytes, slot, call, flags, blocks, size } = frame;
        r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, blocks);
        destination.message(lane, slot, call, flags, r, size);
      }
    }
    this.#frames = [];
  }

  /** It will never come. */
  refuse(error: DeliveryError): void {
    this.release(new Refusal(error));
  }
}
