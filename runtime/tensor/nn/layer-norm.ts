import type { Tensor } from "../tensor.js";
import { torch } from "../torch.js";
import { checkLayerSizes, filledParameter, type LayerOptions } from "./init.js";
import { Module } from "./module.js";

export interface LayerNormOptions extends LayerOptions {
  /** Added to the variance. Default: 1e-5. */
  readonly eps?: number;
}

/**
 * Brings the last dimensions to mean 0 and variance 1, then scales and shifts each element. `weight` begins with ones, `bias` with zeros.
 * @throws RangeError for sizes
 */
export class LayerNorm extends Module {
  readonly shape: readonly number[];
  readonly eps: number;
  readonly weight: Tensor;
  readonly bias: Tensor;

  /** @param shape of the last dimensions; a number: of the last one */
  constructor(shape: number | readonly number[], { eps = 1e-5, dtype = "float32" }: LayerNormOptions = {}) {
    super();
    this.shape = typeof shape === "number" ? [shape] : [...shape];
    for (const size of this.shape) checkLayerSizes("LayerNorm", { size });
    this.eps = eps;
    this.weight = filledParameter(this.shape, dtype, (empty) => empty.fill_(1));
    this.bias = filledParameter(this.shape, dtype, (empty) => empty.zero_());
  }

  forward(x: Tensor): Tensor {
    return torch.layer_norm(x, this.shape, this.weight, this.bias, this.eps);
  }
}
