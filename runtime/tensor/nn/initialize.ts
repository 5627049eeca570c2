/** Initial values of parameters: those of PyTorch's layers. `manualSeed` sets the seed of the random numbers. */

import type { Dtype } from "../argument-types.js";
import type { Tensor } from "../value/tensor.js";
import { torch } from "../value/torch.js";
import { parameter } from "./parameter.js";

/** The options of all layers. */
export interface LayerOptions {
  /** The type of the parameters. Default: `float32`. */
  readonly dtype?: Dtype;
}

/** A parameter whose elements are set by an operation in place. */
export function filledParameter(shape: readonly number[], dtype: Dtype, fill: (empty: Tensor) => Tensor): Tensor {
  const made = torch.empty(shape, { dtype });
  // The result is the same tensor, by another object.
  fill(made).dispose();
  return parameter(made);
}

/** Uniform from `-bound` to `bound`. */
export function uniformParameter(shape: readonly number[], bound: number, dtype: Dtype): Tensor {
  return filledParameter(shape, dtype, (empty) => empty.uniform_(-bound, bound));
}

/** @throws RangeError for what is no size of a layer */
export function checkLayerSizes(layer: string, sizes: Readonly<Record<string, number>>): void {
  for (const [name, size] of Object.entries(sizes)) {
    if (!Number.isSafeInteger(size) || size < 1) {
      throw new RangeError(`cannot make ${layer}: ${name} must be an integer from 1 on, got ${size}`);
    }
  }
}
