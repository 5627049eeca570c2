/** What the layer answers, before it has: shape and type alone. */
import type { Tensor, TensorShape } from "viceroy/tensor";

export const inputs = 8;
export const outputs = 2;

export function answered({ shape, dtype }: Tensor): TensorShape {
  return { shape: [shape[0] ?? 0, outputs], dtype };
}

export function ofWeights(batch: Tensor, gradient: Tensor): TensorShape {
  return { shape: [batch.shape[1] ?? 0, gradient.shape[1] ?? 0], dtype: batch.dtype };
}
