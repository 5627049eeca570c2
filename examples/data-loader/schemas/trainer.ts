import type { Actor, Mesh, Uint32 } from "viceroy/schema";
import type { Loader } from "./loader.js";

/** The model: a straight line. */
export interface Line {
  slope: number;
  offset: number;
}

/** What came of some steps of training. */
export interface Progress {
  line: Line;
  /** Mean square error over the batches of these steps. */
  loss: number;
  /** The numbers of the batches that it learned from. */
  batches: Uint32[];
}

/** Trains its copy of the model on the batches of the loader that has its own rank. */
export interface Trainer extends Actor<[loaders: Mesh<Loader, "gpus">]> {
  /** Starts from `line`, takes `steps` batches. */
  train(line: Line, steps: Uint32): Progress;
}
