/** Which tensors are the state of a module: marked, since any other tensor may be a property as well. */
import type { Tensor } from "../tensor.js";

export type ParameterKind = "parameter" | "buffer";

const parameterKinds = new WeakMap<object, ParameterKind>();

/** Marks a tensor that is trained: it requires gradients from now on. Where one is a property of a module it is part of its state. */
export function parameter(tensor: Tensor): Tensor {
  tensor.requiresGrad = true;
  parameterKinds.set(tensor, "parameter");
  return tensor;
}

/** Marks a tensor that is part of a module's state without being trained: running statistics, frequencies. */
export function buffer(tensor: Tensor): Tensor {
  parameterKinds.set(tensor, "buffer");
  return tensor;
}

/** Undefined for what is neither. */
export function parameterKindOf(value: object): ParameterKind | undefined {
  return parameterKinds.get(value);
}
