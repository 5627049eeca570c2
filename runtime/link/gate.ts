/**
 * A lane that waits for casts: what its sender sent after them is kept until they have passed. See *order* in
 * docs/reference/protocol.md; who opens the gate is told in cast/arrivals.ts.
 */
import type { Reader } from "../wire/reader.js";
import type { Binding } from "./binding.js";
import { FrameLog } from "./frame-log.js";
import type { Destination, Lane } from "./lane.js";

export class Gate implements Destination {
  /** Where the lane leads when the gate has opened. */
  behind: Destination;
  readonly #lane: Lane;
  readonly #log = new FrameLog();

  constructor(lane: Lane) {
    this.#lane = lane;
    this.behind = lane.destination;
    lane.destination = this;
  }

  bind(lane: Lane, binding: Binding): void {
    this.#log.bind(lane, binding);
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    this.#log.message(lane, slot, call, flags, r, size);
  }

  /** At once, unless its message is kept here: what has passed before may be what the casts wait for. */
  cancel(lane: Lane, call: number, reason: number): void {
    if (this.#log.holds(call)) this.#log.cancel(lane, call, reason);
    else this.behind.cancel(lane, call, reason);
  }

  sync(lane: Lane, sync: number, casts: number): void {
    this.#log.sync(lane, sync, casts);
  }

  laneClosed(lane: Lane): void {
    this.#log.closed(lane);
  }

  /** What it waits for will never come: nor does what was sent after it, unless somebody is there to be told of that. */
  drop(): void {
    if (this.#lane.open) {
      this.open();
      return;
    }
    this.#lane.destination = this.behind;
    this.behind.laneClosed(this.#lane);
  }

  /** What has been kept is handed on, unless the lane has to wait again. */
  open(): void {
    this.#lane.destination = this.behind;
    this.#log.release((lane) => lane.destination);
  }
}
