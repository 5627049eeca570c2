/**
 * A lane that waits for casts: what its sender sent after them is kept until they have passed. See *order* in
 * docs/reference/protocol.md; who opens the gate is told in cast/receiver/ordered-arrivals.ts.
 */
import type { Reader } from "../../wire/reader.js";
import type { Binding } from "../frame/binding.js";
import { HeldFrames } from "./held-frames.js";
import type { Destination, Lane } from "./lane.js";

export class OrderGate implements Destination {
  /** Where the lane leads when the gate has opened. */
  destination: Destination;
  readonly #lane: Lane;
  readonly #held = new HeldFrames();

  constructor(lane: Lane) {
    this.#lane = lane;
    this.destination = lane.destination;
    lane.destination = this;
  }

  bind(lane: Lane, binding: Binding): void {
    this.#held.bind(lane, binding);
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    this.#held.message(lane, slot, call, flags, r, size);
  }

  /** At once, unless its message is kept here: what has passed before may be what the casts wait for. */
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

  /** What it waits for will never come: nor does what was sent after it, unless somebody is there to be told of that. */
  giveUp(): void {
    if (this.#lane.isOpen) {
      this.release();
      return;
    }
    this.#lane.destination = this.destination;
    this.destination.laneClosed(this.#lane);
  }

  /** What has been kept is handed on, unless the lane has to wait again. */
  release(): void {
    this.#lane.destination = this.destination;
    this.#held.release((lane) => lane.destination);
  }
}
