import type {
  Fixed32,
  Fixed64,
  Float32,
  Int32,
  Int64,
  Sfixed32,
  Sfixed64,
  Sint32,
  Sint64,
  Uint32,
  Uint64,
} from "viceroy/schema";

/** One field of every scalar type. */
export interface Scalars {
  flag: boolean;
  real: number;
  single: Float32;
  int32: Int32;
  uint32: Uint32;
  sint32: Sint32;
  fixed32: Fixed32;
  sfixed32: Sfixed32;
  int64: Int64;
  uint64: Uint64;
  sint64: Sint64;
  fixed64: Fixed64;
  sfixed64: Sfixed64;
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
