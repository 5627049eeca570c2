import type { Tensor } from "../tensor.js";
import { torch } from "../torch.js";
import { checkLayerSizes, filledParameter, type LayerOptions } from "./init.js";
import { Module } from "./module.js";

/**
 * A vector for each of `count` things, by their index. They begin normal, with mean 0 and deviation 1.
 * @throws RangeError for sizes
 */
export class Embedding extends Module {
  /** `[count, width]` */
  readonly weight: Tensor;

  constructor(count: number, width: number, { dtype = "float32" }: LayerOptions = {}) {
    super();
    checkLayerSizes("Embedding", { count, width });
    this.weight = filledParameter([count, width], dtype, (empty) => empty.normal_());
  }

  /** Indices, `int64` or `int32`, of shape `[…]` to vectors, `[…, width]` */
  forward(indices: Tensor): Tensor {
    return torch.embedding(this.weight, indices);
  }
}
