/**
 * The pieces in which encoded values go from one machine to another. The first process that reads a piece for another machine computes
 * its checksum, and those that pass the piece on pass that checksum on, so that damage on the way is found wherever it happens.
 */
import type { ObjectPiece } from "../../../generated/tasks.js";
import { crc32 } from "../kernel.js";
import { type HeldValue, sizeOfHeld } from "./held-value.js";
import { StoredValue } from "./stored-value.js";

/** The size of all pieces but the last one, in bytes. */
export const PIECE_BYTES = 2 ** 20;

/** The checksums of the pieces of values that other machines have read. */
const sums = new WeakMap<HeldValue, (number | undefined)[]>();

export function pieceCount(size: number): number {
  return Math.ceil(size / PIECE_BYTES);
}

/** Remembers the checksums with which the pieces of a value have arrived. */
export function rememberSums(value: HeldValue, known: readonly number[]): void {
  sums.set(value, [...known]);
}

/** Returns a piece of a value. @throws RangeError if there is no such piece */
export function pieceOf(value: HeldValue, index: number): ObjectPiece {
  const from = index * PIECE_BYTES;
  const size = sizeOfHeld(value);
  if (from >= size) throw new RangeError(`cannot read piece ${index} of a value that has ${pieceCount(size)} pieces`);
  const bytes = partOf(value, from, Math.min(PIECE_BYTES, size - from));
  let known = sums.get(value);
  if (known === undefined) {
    known = [];
    sums.set(value, known);
  }
  known[index] ??= crc32(bytes);
  return { bytes, sum: known[index] };
}

function partOf(value: HeldValue, from: number, bytes: number): Uint8Array {
  return value instanceof StoredValue ? value.copy(from, bytes) : value.subarray(from, from + bytes);
}
