import type { Tensor } from "../tensor.js";
import { torch } from "../torch.js";
import { Module } from "./module.js";

/** @throws RangeError for what is no probability */
export function checkProbability(layer: string, probability: number): void {
  if (probability >= 0 && probability <= 1) return;
  throw new RangeError(`cannot make ${layer}: dropout must be a probability from 0 to 1, got ${probability}`);
}

/**
 * In training, zeroes each element with a probability, and scales the others up so that the mean stays; otherwise answers what it is given.
 * @throws RangeError for what is no probability
 */
export class Dropout extends Module {
  readonly probability: number;

  constructor(probability = 0.5) {
    super();
    checkProbability("Dropout", probability);
    this.probability = probability;
  }

  forward(x: Tensor): Tensor {
    return this.training && this.probability > 0 ? torch.dropout(x, this.probability, true) : x;
  }
}
