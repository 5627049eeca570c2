import type { Actor, Uint32 } from "viceroy/schema";

/** What a model learns from in one step: inputs, and the outputs that belong to them. */
export interface Batch {
  number: Uint32;
  inputs: Float64Array;
  outputs: Float64Array;
}

/** Reads one part of a data set: rank r of n has every n-th batch. */
export interface Loader extends Actor<[batchSize: Uint32]> {
  next(): Batch;
}
