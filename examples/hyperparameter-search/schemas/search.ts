import type { Task, Uint32 } from "viceroy/schema";

/** The hyperparameters, which distinguish one candidate from the others. */
export interface Settings {
  candidate: Uint32;
  hidden: Uint32;
  rate: number;
  momentum: number;
}

/** A network that has been trained for some epochs. */
export interface Model {
  epochs: Uint32;
  /** Each hidden unit has two weights, a bias, and the weight to the output. The bias of the output is the last number. */
  weights: Float64Array;
  velocity: Float64Array;
  /** The mean loss on the validation set. */
  loss: number;
  /** The share of the validation set that is classified correctly, from 0 to 1. */
  accuracy: number;
}

/**
 * Makes an untrained network.
 *
 * @idempotent
 */
export interface Create extends Task<[settings: Settings], Model> {}

/**
 * Trains a network for some more epochs, and measures it.
 *
 * @idempotent
 */
export interface Train extends Task<[settings: Settings, model: Model, epochs: Uint32], Model> {}
