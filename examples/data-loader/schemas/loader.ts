import type { Actor, Uint32 } from "viceroy/schema";

/** The data of one training step: inputs and the outputs that belong to them. */
export interface Batch {
  number: Uint32;
  inputs: Float64Array;
  outputs: Float64Array;
}

/** Reads one part of a data set. Of n loaders, rank r reads batches r, r + n, r + 2n, … */
export interface Loader extends Actor<[batchSize: Uint32]> {
  next(): Batch;
}
