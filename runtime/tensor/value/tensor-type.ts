/** Shape and type of elements: all that is known of a tensor that is elsewhere. */

import type { TensorType } from "../../../generated/tensor.js";

export interface DtypeAndShape {
  readonly dtype: string;
  readonly shape: readonly (number | bigint)[];
}

/** As messages have it. */
export function tensorTypeOf({ dtype, shape }: DtypeAndShape): TensorType {
  return { dtype, shape: shape.map(BigInt) };
}

export function isSameTensorType(a: DtypeAndShape, b: DtypeAndShape): boolean {
  return (
    a.dtype === b.dtype &&
    a.shape.length === b.shape.length &&
    a.shape.every((size, at) => BigInt(size) === BigInt(b.shape[at]!))
  );
}

/** `float32[2, 3]` */
export function formatTensorType({ dtype, shape }: DtypeAndShape): string {
  return `${dtype}[${shape.join(", ")}]`;
}
