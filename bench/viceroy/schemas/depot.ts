import type { Actor, Uint32 } from "viceroy/schema";

/** A state of one large array. */
export interface DepotState {
  weights: Float32Array;
}

/** The times of the last checkpoint in the process of the actor, in milliseconds. */
export interface DepotTimes {
  /** The time from the call of `save` until the process does something else. */
  stopped: number;
  /** The time of a copy of the same bytes into new memory. */
  copy: number;
}

/** An actor with a large state. */
export interface Depot extends Actor<[bytes: Uint32], DepotState> {
  /** Copies the state, and returns the times. */
  times(): DepotTimes;
}
