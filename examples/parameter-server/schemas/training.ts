import type { Actor, Mesh, RdmaBuffer, Uint32 } from "viceroy/schema";

/** Holds the weights of a model, and takes the gradients of its workers. */
export interface ParameterServer extends Actor<[weights: Uint32, workers: Uint32]> {
  /** All weights, 32-bit floats, for reading. */
  weights(): RdmaBuffer;
  /** Where a worker leaves its gradients, one for each weight. */
  gradients(worker: Uint32): RdmaBuffer;
  /** Adds what a worker has left to the weights. */
  apply(worker: Uint32): void;
  /** The smallest and the largest weight. */
  range(): [number, number];
}

/** Learns: reads the weights, works, and leaves gradients at the server. */
export interface Learner extends Actor {
  join(server: Mesh<ParameterServer>): void;
  /** One step. Answers with how the bytes went. */
  step(): string;
}
