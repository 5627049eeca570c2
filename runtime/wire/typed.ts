/** Typed arrays: which there are, and what each is called. */

export type TypedArray =
  | Int8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** `Float64Array` and its kin, as constructors. */
export interface TypedArrayConstructor<T> {
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): T;
}

/** Layouts are little-endian, and typed arrays are copied as they are. */
if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) {
  throw new Error("cannot load viceroy: it needs a little-endian processor");
}
