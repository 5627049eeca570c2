/** Returns the shape of the result of `Linear` for a batch. */
import type { Tensor, TensorShape } from "viceroy/tensor";

export function linear(batch: Tensor, outputs: number): TensorShape {
  return { shape: [...batch.shape.slice(0, -1), outputs], dtype: batch.dtype };
}

export function same(batch: Tensor): TensorShape {
  return batch;
}

/** Says something else than what is answered. */
export function wrong(batch: Tensor): TensorShape {
  return { shape: [...batch.shape, 1], dtype: batch.dtype };
}

export function halves(batch: Tensor): readonly [TensorShape, TensorShape] {
  const [rows = 0, ...others] = batch.shape;
  const half = { shape: [rows / 2, ...others], dtype: batch.dtype };
  return [half, half];
}
