/**
 * Appends to typed arrays. A field that occurs again is appended to the array of the earlier one, and a hostile message
 * can contain many occurrences. The buffer of the result has twice the needed size and is used for later appends, so that
 * appending takes amortized constant time per byte. The earlier array must not be used any more.
 */
import type { TypedArray, TypedArrayConstructor } from "../typed-array.js";

/** Returns `into` followed by `input[from, to)`. */
export function appendBytes(into: Uint8Array | undefined, input: Uint8Array, from: number, to: number): Uint8Array {
  return appendElements(Uint8Array as TypedArrayConstructor<Uint8Array>, into, input, from, to);
}

/** Returns `into` followed by the elements whose bytes are `input[from, to)`. The range contains whole elements. */
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
