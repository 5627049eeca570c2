/** The shape and the type of the elements of a tensor in another process. */

import type { TensorType } from "../../../generated/tensor.js";

export interface DtypeAndShape {
  readonly dtype: string;
  readonly shape: readonly (number | bigint)[];
}

/** Returns shape and type as a message. */
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

/** Formats shape and type as `float32[2, 3]`. */
export function formatTensorType({ dtype, shape }: DtypeAndShape): string {
  return `${dtype}[${shape.join(", ")}]`;
}
