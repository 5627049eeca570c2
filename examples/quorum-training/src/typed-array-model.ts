import type { Gradient } from "../generated/replica.js";
import { type Batch, learningRate } from "./data.js";
import type { Model } from "./model.js";

/** Computes with JavaScript alone, by the derivative of the loss. */
export class TypedArrayModel implements Model {
  readonly computesWith = "typed arrays";
  readonly #weights: Float32Array;

  constructor(weights: Float32Array) {
    this.#weights = weights;
  }

  gradient({ inputs, labels }: Batch): Gradient {
    const size = this.#weights.length;
    const gradient = new Float32Array(size);
    let loss = 0;
    for (const [sample, label] of labels.entries()) {
      const own = inputs.subarray(sample * size, (sample + 1) * size);
      const logit = own.reduce((sum, input, i) => sum + input * this.#weights[i]!, 0);
      const difference = 1 / (1 + Math.exp(-logit)) - label;
      // The cross entropy, in a form that no logit makes infinite.
      loss += (Math.max(logit, 0) - logit * label + Math.log1p(Math.exp(-Math.abs(logit)))) / labels.length;
      for (const [i, input] of own.entries()) gradient[i]! += (difference * input) / labels.length;
    }
    return { loss, gradient };
  }

  apply(gradient: Float32Array): void {
    for (const [i, slope] of gradient.entries()) this.#weights[i]! -= learningRate * slope;
  }
}
