// The types of schemas/scalars.ts, without codecs.
/** One field of every scalar type. */
export interface Scalars {
  flag: boolean;
  real: number;
  single: number;
  int32: number;
  uint32: number;
  sint32: number;
  fixed32: number;
  sfixed32: number;
  int64: bigint;
  uint64: bigint;
  sint64: bigint;
  fixed64: bigint;
  sfixed64: bigint;
  text: string;
  bytes: Uint8Array;
  at: Date;
}

/** One field of every typed array. */
export interface TypedArrays {
  int8: Int8Array;
  clamped: Uint8ClampedArray;
  int16: Int16Array;
  uint16: Uint16Array;
  int32: Int32Array;
  uint32: Uint32Array;
  bigInt64: BigInt64Array;
  bigUint64: BigUint64Array;
  float32: Float32Array;
  float64: Float64Array;
}
