import type { Tensor } from "../value/tensor.js";
import { torch } from "../value/torch.js";
import { checkLayerSizes, filledParameter, type LayerOptions } from "./initialize.js";
import { Module } from "./module.js";

/** A table of vectors, looked up by index. The initial values are normally distributed with mean 0 and deviation 1. */
export class Embedding extends Module {
  /** The vectors, of the shape `[count, width]`. */
  readonly weight: Tensor;

  /**
   * Makes the layer.
   *
   * @param count number of vectors, from 1
   * @param width size of a vector, from 1
   * @param options type of the parameters
   * @throws {RangeError} when a size is out of range
   */
  constructor(count: number, width: number, { dtype = "float32" }: LayerOptions = {}) {
    super();
    checkLayerSizes("Embedding", { count, width });
    this.weight = filledParameter([count, width], dtype, (empty) => empty.normal_());
  }

  /**
   * Looks up vectors.
   *
   * @param indices a tensor of the type `int64` or `int32` and any shape
   * @returns the vectors, of the shape of the indices followed by `width`
   */
  forward(indices: Tensor): Tensor {
    return torch.embedding(this.weight, indices);
  }
}
