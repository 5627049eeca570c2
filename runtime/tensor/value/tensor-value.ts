/** Tensors of this process as they travel, and back. What comes in is checked by the addon. */
import type { TensorValue } from "../../../generated/tensor.js";
import { addon } from "../operation/addon.js";
import type { Tensor } from "./tensor.js";
import { tensorTypeOf } from "./tensor-type.js";
import { isDtype } from "./typed-array.js";

export function toTensorValue(tensor: Tensor): TensorValue {
  return {
    ...tensorTypeOf(tensor),
    elements: new Uint8Array(addon().toMemory(tensor)),
  };
}

/** @throws TypeError, RangeError for what is no tensor */
export function fromTensorValue({ dtype, shape, elements }: TensorValue): Tensor {
  if (!isDtype(dtype)) throw new TypeError(`cannot read a tensor: there is no dtype "${dtype}"`);
  // A copy: it is aligned, and nobody else's.
  return addon().fromMemory(elements.slice(), shape.map(Number), dtype) as Tensor;
}
