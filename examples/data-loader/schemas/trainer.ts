import type { Actor, Mesh, Uint32 } from "viceroy/schema";
import type { Loader } from "./loader.js";

/** The model: a straight line. */
export interface Line {
  slope: number;
  offset: number;
}

/** The result of several training steps. */
export interface Progress {
  line: Line;
  /** Mean squared error over the batches of these steps. */
  loss: number;
  /** The numbers of these batches. */
  batches: Uint32[];
}

/** Trains a copy of the model with the batches of the loader of equal rank. */
export interface Trainer extends Actor<[loaders: Mesh<Loader, "gpus">]> {
  /** Trains `steps` steps, starting from `line`. Each step uses one batch. */
  train(line: Line, steps: Uint32): Progress;
}
