import { TensorError } from "viceroy/tensor";
import type { Model } from "./model.js";
import { TensorModel } from "./tensor-model.js";
import { TypedArrayModel } from "./typed-array-model.js";

/** Returns a model that computes with tensors where libtorch is installed, and with typed arrays elsewhere. */
export function makeModel(weights: Float32Array): Model {
  try {
    return new TensorModel(weights);
  } catch (error) {
    if (error instanceof TensorError && error.code === "ERR_TENSOR_ADDON") return new TypedArrayModel(weights);
    throw error;
  }
}
