import type { Tensor } from "../value/tensor.js";
import { torch } from "../value/torch.js";
import { Module } from "./module.js";

/** @throws RangeError for what is no probability */
export function checkProbability(layer: string, probability: number): void {
  if (probability >= 0 && probability <= 1) return;
  throw new RangeError(`cannot make ${layer}: dropout must be a probability from 0 to 1, got ${probability}`);
}

/**
 * In training, sets each element to 0 with a probability and scales the other elements so that the mean stays.
 * Otherwise, returns its input.
 */
export class Dropout extends Module {
  /** The probability with which an element is set to 0. */
  readonly probability: number;

  /**
   * Makes the layer.
   *
   * @param probability from 0 to 1; default 0.5
   * @throws {RangeError} when the probability is out of range
   */
  constructor(probability = 0.5) {
    super();
    checkProbability("Dropout", probability);
    this.probability = probability;
  }

  /** Applies the layer to a tensor of any shape. */
  forward(x: Tensor): Tensor {
    return this.training && this.probability > 0 ? torch.dropout(x, this.probability, true) : x;
  }
}
