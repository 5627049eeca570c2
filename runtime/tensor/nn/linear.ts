import type { Tensor } from "../tensor.js";
import { torch } from "../torch.js";
import { checkLayerSizes, type LayerOptions, uniformParameter } from "./init.js";
import { Module } from "./module.js";

export interface LinearOptions extends LayerOptions {
  /** Default: true. */
  readonly bias?: boolean;
}

/**
 * `x · weightᵀ + bias`, of the last dimension. Both begin uniform within ±1/√inputs.
 * @throws RangeError for sizes
 */
export class Linear extends Module {
  /** `[outputs, inputs]` */
  readonly weight: Tensor;
  /** `[outputs]` */
  readonly bias: Tensor | null;

  constructor(inputs: number, outputs: number, { bias = true, dtype = "float32" }: LinearOptions = {}) {
    super();
    checkLayerSizes("Linear", { inputs, outputs });
    const bound = 1 / Math.sqrt(inputs);
    this.weight = uniformParameter([outputs, inputs], bound, dtype);
    this.bias = bias ? uniformParameter([outputs], bound, dtype) : null;
  }

  /** `[…, inputs]` to `[…, outputs]` */
  forward(x: Tensor): Tensor {
    return torch.linear(x, this.weight, this.bias);
  }
}
