/** What operations take besides tensors. */
import type { Dtype } from "../native/tensor-addon.js";
import type { Float } from "./float.js";

export type { Dtype } from "../native/tensor-addon.js";
export type { Tensor } from "./tensor.js";

/** A whole number; `bigint` beyond 2^53. */
export type Integer = number | bigint;
/** A number with a fraction, or not. */
export type Real = number | Float;
/** A number of any type: one without a fraction is an integer, unless `float()` says that it is none. */
export type Scalar = number | bigint | boolean | Float;
export type Device = "cpu";
export type Layout = "strided" | "sparse_coo";
export type MemoryFormat = "contiguous" | "preserve" | "channels_last" | "channels_last_3d";

/** Typed arrays that hold the elements of tensors. */
export interface DataOf {
  readonly float32: Float32Array;
  readonly float64: Float64Array;
  /** Bits: JavaScript has no such numbers. */
  readonly float16: Uint16Array;
  readonly bfloat16: Uint16Array;
  readonly int8: Int8Array;
  readonly uint8: Uint8Array;
  readonly int16: Int16Array;
  readonly int32: Int32Array;
  readonly int64: BigInt64Array;
  /** 0 or 1 */
  readonly bool: Uint8Array;
  /** Real and imaginary parts by turns. */
  readonly complex64: Float32Array;
  readonly complex128: Float64Array;
}

export type TensorData = DataOf[Dtype];
