import type { Tensor } from "../value/tensor.js";
import { torch } from "../value/torch.js";
import { checkLayerSizes, type LayerOptions, uniformParameter } from "./initialize.js";
import { Module } from "./module.js";

/** The options of {@link Linear}. */
export interface LinearOptions extends LayerOptions {
  /** Whether the layer has a bias. Default: true. */
  readonly bias?: boolean;
}

/** Computes `x · weightᵀ + bias` over the last dimension. Both parameters are initially uniform within ±1/√inputs. */
export class Linear extends Module {
  /** The weights, of the shape `[outputs, inputs]`. */
  readonly weight: Tensor;
  /** The bias, of the shape `[outputs]`; null without one. */
  readonly bias: Tensor | null;

  /**
   * Makes the layer.
   *
   * @param inputs size of the last dimension of the input, from 1
   * @param outputs size of the last dimension of the result, from 1
   * @param options bias and type
   * @throws {RangeError} when a size is out of range
   */
  constructor(inputs: number, outputs: number, { bias = true, dtype = "float32" }: LinearOptions = {}) {
    super();
    checkLayerSizes("Linear", { inputs, outputs });
    const bound = 1 / Math.sqrt(inputs);
    this.weight = uniformParameter([outputs, inputs], bound, dtype);
    this.bias = bias ? uniformParameter([outputs], bound, dtype) : null;
  }

  /** Applies the layer: `[…, inputs]` becomes `[…, outputs]`. */
  forward(x: Tensor): Tensor {
    return torch.linear(x, this.weight, this.bias);
  }
}
