/**
 * Typed arrays that get longer: fields that come twice are appended to, and a hostile message has many of them. A longer
 * array is made in memory twice as large as needed, and the next one finds its place there, so that many small
 * additions take time in proportion to their size. The shorter ones must not be used any more.
 */
import type { TypedArray, TypedArrayConstructor } from "../typed-array.js";

/** `into` followed by `input[from, to)`. */
export function appendBytes(into: Uint8Array | undefined, input: Uint8Array, from: number, to: number): Uint8Array {
  return appendElements(Uint8Array as TypedArrayConstructor<Uint8Array>, into, input, from, to);
}

/** `into` followed by the elements whose bytes are `input[from, to)`, whole ones. */
export function appendElements<T extends TypedArray | Uint8Array>(
  type: TypedArrayConstructor<T>,
  into: T | undefined,
  input: Uint8Array,
  from: number,
  to: number,
): T {
  const added = input.subarray(from, to);
  if (into === undefined) {
    const own = new Uint8Array(added);
    return new type(own.buffer);
  }
  const before = into.byteLength;
  const after = before + added.length;
  let memory = into.buffer;
  if (memory.byteLength < after) {
    memory = new ArrayBuffer(after * 2);
    new Uint8Array(memory).set(new Uint8Array(into.buffer, 0, before));
  }
  new Uint8Array(memory, before, added.length).set(added);
  return new type(memory, 0, after / type.BYTES_PER_ELEMENT);
}
