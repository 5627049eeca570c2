/** Which tensors are the state of a module: marked, since any other tensor may be a property as well. */
import type { Tensor } from "../value/tensor.js";

export type ParameterKind = "parameter" | "buffer";

const parameterKinds = new WeakMap<object, ParameterKind>();

/**
 * Marks a tensor as a parameter: it requires gradients, and is part of the state of a module.
 *
 * @returns the tensor
 */
export function parameter(tensor: Tensor): Tensor {
  tensor.requiresGrad = true;
  parameterKinds.set(tensor, "parameter");
  return tensor;
}

/**
 * Marks a tensor as a buffer: a part of the state of a module that is not trained, such as running statistics.
 *
 * @returns the tensor
 */
export function buffer(tensor: Tensor): Tensor {
  parameterKinds.set(tensor, "buffer");
  return tensor;
}

/** Undefined for what is neither. */
export function parameterKindOf(value: object): ParameterKind | undefined {
  return parameterKinds.get(value);
}
