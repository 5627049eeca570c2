/** Shape and type of elements: all that is known of a tensor that is elsewhere. */

import type { TensorType } from "../../generated/tensor.js";

export interface TypeOfTensor {
  readonly dtype: string;
  readonly shape: readonly (number | bigint)[];
}

/** As messages have it. */
export function typeOf({ dtype, shape }: TypeOfTensor): TensorType {
  return { dtype, shape: shape.map(BigInt) };
}

export function isSameType(a: TypeOfTensor, b: TypeOfTensor): boolean {
  return (
    a.dtype === b.dtype &&
    a.shape.length === b.shape.length &&
    a.shape.every((size, at) => BigInt(size) === BigInt(b.shape[at]!))
  );
}

/** `float32[2, 3]` */
export function typeText({ dtype, shape }: TypeOfTensor): string {
  return `${dtype}[${shape.join(", ")}]`;
}
