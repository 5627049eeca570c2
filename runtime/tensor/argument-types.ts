/** The types of arguments of operations that are not tensors. */
import type { Dtype } from "../native/tensor-addon.js";
import type { Float } from "./float.js";

export type { Dtype } from "../native/tensor-addon.js";

/** An integer; a bigint beyond 2^53. */
export type Integer = number | bigint;
/** Integers, one for each dimension, or one for all. */
export type Integers = Integer | readonly Integer[];
/** A number, with a fraction or without. */
export type Real = number | Float;
/** A number of any type. A number without a fraction is an integer, unless {@link float} marks it. */
export type Scalar = number | bigint | boolean | Float;
/** A device of tensors in this process. */
export type Device = "cpu";
/** A memory layout of libtorch. */
export type Layout = "strided" | "sparse_coo";
/** An order of dimensions in memory, in the terms of libtorch. */
export type MemoryFormat = "contiguous" | "preserve" | "channels_last" | "channels_last_3d";

/** The typed arrays that contain the elements of tensors, by type. */
export interface DataOf {
  /** Single-precision numbers. */
  readonly float32: Float32Array;
  /** Double-precision numbers. */
  readonly float64: Float64Array;
  /** The bits of half-precision numbers, which JavaScript does not have. */
  readonly float16: Uint16Array;
  /** The bits of bfloat16 numbers, which JavaScript does not have. */
  readonly bfloat16: Uint16Array;
  /** Integers of 8 bits. */
  readonly int8: Int8Array;
  /** Unsigned integers of 8 bits. */
  readonly uint8: Uint8Array;
  /** Integers of 16 bits. */
  readonly int16: Int16Array;
  /** Integers of 32 bits. */
  readonly int32: Int32Array;
  /** Integers of 64 bits. */
  readonly int64: BigInt64Array;
  /** Booleans, as 0 or 1. */
  readonly bool: Uint8Array;
  /** Complex numbers: real and imaginary parts alternate, in single precision. */
  readonly complex64: Float32Array;
  /** Complex numbers: real and imaginary parts alternate, in double precision. */
  readonly complex128: Float64Array;
}

/** A typed array with the elements of a tensor. */
export type TensorData = DataOf[Dtype];
