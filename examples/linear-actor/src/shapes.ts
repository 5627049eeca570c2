/** Shapes and types of the layer's answers, computed before the actors answer. */
import type { Tensor, TensorShape } from "viceroy/tensor";

export const inputs = 8;
export const outputs = 2;

export function outputShape({ shape, dtype }: Tensor): TensorShape {
  return { shape: [shape[0] ?? 0, outputs], dtype };
}

export function weightGradientShape(batch: Tensor, gradient: Tensor): TensorShape {
  return { shape: [batch.shape[1] ?? 0, gradient.shape[1] ?? 0], dtype: batch.dtype };
}
