import type { Tensor } from "../value/tensor.js";
import { torch } from "../value/torch.js";
import { checkLayerSizes, filledParameter, type LayerOptions } from "./initialize.js";
import { Module } from "./module.js";

/** The options of {@link LayerNorm}. */
export interface LayerNormOptions extends LayerOptions {
  /** A number that is added to the variance. Default: 1e-5. */
  readonly eps?: number;
}

/** Normalizes the last dimensions to mean 0 and variance 1, then scales and shifts each element. */
export class LayerNorm extends Module {
  /** The sizes of the last dimensions. */
  readonly shape: readonly number[];
  /** The number that is added to the variance. */
  readonly eps: number;
  /** The factor of each element; initially 1. */
  readonly weight: Tensor;
  /** The offset of each element; initially 0. */
  readonly bias: Tensor;

  /**
   * Makes the layer.
   *
   * @param shape sizes of the last dimensions, or the size of the last one
   * @param options type, and the number that is added to the variance
   * @throws {RangeError} when a size is out of range
   */
  constructor(shape: number | readonly number[], { eps = 1e-5, dtype = "float32" }: LayerNormOptions = {}) {
    super();
    this.shape = typeof shape === "number" ? [shape] : [...shape];
    for (const size of this.shape) checkLayerSizes("LayerNorm", { size });
    this.eps = eps;
    this.weight = filledParameter(this.shape, dtype, (empty) => empty.fill_(1));
    this.bias = filledParameter(this.shape, dtype, (empty) => empty.zero_());
  }

  /** Applies the layer to a tensor whose last dimensions have the sizes `shape`. */
  forward(x: Tensor): Tensor {
    return torch.layer_norm(x, this.shape, this.weight, this.bias, this.eps);
  }
}
