/** Converts tensors of this process to messages and back. The addon checks received ones. */
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

/** Makes a tensor of a message. @throws {TypeError | RangeError} when the message is not a valid tensor */
export function fromTensorValue({ dtype, shape, elements }: TensorValue): Tensor {
  if (!isDtype(dtype)) throw new TypeError(`cannot read a tensor: there is no dtype "${dtype}"`);
  // The copy is aligned and does not share the memory of the message.
  return addon().fromMemory(elements.slice(), shape.map(Number), dtype) as Tensor;
}
