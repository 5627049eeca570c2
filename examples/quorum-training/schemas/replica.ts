import type { Actor, RdmaBuffer, Uint32 } from "viceroy/schema";

/** Describes a replica. */
export interface Description {
  /** The id of its process on its host. */
  pid: Uint32;
  /** `tensors` or `typed arrays`. */
  computesWith: string;
}

/** The result of one replica for its batch of one step. */
export interface Gradient {
  loss: number;
  gradient: Float32Array;
}

/** The state of a replica, readable until its next step. */
export interface Offer {
  step: Uint32;
  weights: RdmaBuffer;
}

/** Trains a copy of a model on its own part of the data. */
export interface Replica extends Actor {
  describe(): Description;
  /** Returns the gradient of the batch of a step. Throws unless the replica has the weights of that step. */
  gradient(step: Uint32): Gradient;
  /** Moves the weights by the mean gradient of a step. */
  apply(step: Uint32, mean: Float32Array): void;
  offer(): Offer;
  /** Reads the state of another replica from its memory. */
  catchUp(offer: Offer): void;
}
