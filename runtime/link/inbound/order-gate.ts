/**
 * A gate in front of the destination of a lane. It keeps the messages that come after casts until the casts have
 * passed. See *order* in docs/reference/protocol.md; cast/receiver/ordered-arrivals.ts opens the gate.
 */
import type { Reader } from "../../wire/reader.js";
import type { Binding } from "../frame/binding.js";
import { HeldFrames } from "./held-frames.js";
import type { Destination, Lane, LaneGate } from "./lane.js";

export class OrderGate implements Destination, LaneGate {
  /** The destination of the lane after the gate has opened. */
  destination: Destination;
  readonly #lane: Lane;
  readonly #held = new HeldFrames();

  constructor(lane: Lane) {
    this.#lane = lane;
    this.destination = lane.destination;
    lane.destination = this;
    lane.gate = this;
  }

  bind(lane: Lane, binding: Binding): void {
    this.#held.bind(lane, binding);
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    this.#held.message(lane, slot, call, flags, r, size);
  }

  /** Cancels a call at once, unless its message is kept here: a message that passed before may be what the casts wait for. */
  cancel(lane: Lane, call: number, reason: number): void {
    if (this.#held.holdsCall(call)) this.#held.cancel(lane, call, reason);
    else this.destination.cancel(lane, call, reason);
  }

  sync(lane: Lane, sync: number, casts: number): void {
    this.#held.sync(lane, sync, casts);
  }

  laneClosed(lane: Lane): void {
    this.#held.laneClosed(lane);
  }

  /** Opens the gate because the casts will never come. If the lane is closed, the kept messages are dropped. */
  giveUp(): void {
    if (this.#lane.isOpen) {
      this.release();
      return;
    }
    this.#remove();
    this.destination.laneClosed(this.#lane);
  }

  /** Opens the gate and delivers what was kept. A kept `sync` frame may close another gate. */
  release(): void {
    this.#remove();
    this.#held.release((lane) => lane.destination);
  }

  #remove(): void {
    this.#lane.destination = this.destination;
    this.#lane.gate = undefined;
  }
}
