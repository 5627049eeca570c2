import type { Actor, Mesh, RdmaBuffer, Uint32 } from "viceroy/schema";

/** Holds the weights of a model and adds the gradients of its workers. */
export interface ParameterServer extends Actor<[weights: Uint32, workers: Uint32]> {
  /** A buffer for reading all weights, as 32-bit floats. */
  weights(): RdmaBuffer;
  /** The buffer to which a worker writes its gradients, one 32-bit float for each weight. */
  gradients(worker: Uint32): RdmaBuffer;
  /** Adds the gradients that a worker has written to the weights. */
  apply(worker: Uint32): void;
  /** The smallest and the largest weight. */
  range(): [number, number];
}

/** A worker: reads the weights, computes gradients and writes them to the server. */
export interface Learner extends Actor {
  join(server: Mesh<ParameterServer>): void;
  /** Makes one step. Returns the transport that has moved the bytes. */
  step(): string;
}
