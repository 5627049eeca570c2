/**
 * Plain values: what tasks without a schema take and return. Encoding copies: neither changes of the value nor of a decoded value
 * show anywhere else. An object that a value contains twice is copied twice, and cycles are refused.
 */

export { type ArgumentPart, decodeArguments, encodeArguments } from "./argument-list.js";
export type { ApartBytes } from "./plain-reader.js";
export { type PlainFault, type PlainPlace, PlainValueError, putPlace } from "./plain-value-error.js";
export type { RefReader, RefWriter } from "./references.js";

import { explainRefusal } from "./explain-refusal.js";
import { type ApartBytes, PlainReader } from "./plain-reader.js";
import { PlainRefusal } from "./plain-refusal.js";
import { changedFault, type PlainPlace, PlainValueError } from "./plain-value-error.js";
import { PlainWriter } from "./plain-writer.js";
import type { RefReader, RefWriter } from "./references.js";

/** The writer of this thread, unless a value is being encoded: encoding a reference may encode other values. */
let idleWriter: PlainWriter | undefined = new PlainWriter();

/**
 * Encodes a plain value. Throws a PlainValueError that names the place if the value is not plain.
 *
 * @param value the value
 * @param place what it is, for the error
 * @param refs recognises references to results
 */
export function encodePlain(value: unknown, place: PlainPlace, refs: RefWriter): Uint8Array {
  return encodeWith(encodeWhole, value, place, refs);
}

/**
 * Encodes a plain value whose large binary values are not copied: they must not change until the parts have been used. Throws as
 * `encodePlain` does.
 *
 * @returns the encoded value, or its parts if it has large binary values, which the first part does not contain
 */
export function encodePlainParts(
  value: unknown,
  place: PlainPlace,
  refs: RefWriter,
): Uint8Array | readonly Uint8Array[] {
  return encodeWith(encodeParts, value, place, refs);
}

const encodeWhole = (writer: PlainWriter, value: unknown, refs: RefWriter) => writer.encode(value, refs);
const encodeParts = (writer: PlainWriter, value: unknown, refs: RefWriter) => writer.encodeParts(value, refs);

function encodeWith<R>(
  encode: (writer: PlainWriter, value: unknown, refs: RefWriter) => R,
  value: unknown,
  place: PlainPlace,
  refs: RefWriter,
): R {
  const writer = idleWriter ?? new PlainWriter();
  idleWriter = undefined;
  try {
    return encode(writer, value, refs);
  } catch (error) {
    if (!(error instanceof PlainRefusal)) throw error;
    throw new PlainValueError(place, error.fault ?? explainRefusal(value, refs) ?? changedFault);
  } finally {
    idleWriter = writer;
  }
}

/**
 * Decodes what `encodePlain` returned. The value shares no memory with the bytes. Throws a CodecError if the bytes are anything
 * else; they need not be trusted.
 *
 * @param bytes the encoded value, or its first part
 * @param refs makes references to results
 * @param apart the memory of the whole value, if the bytes are its first part. The binary values in it are not copied
 */
export function decodePlain(bytes: Uint8Array, refs: RefReader, apart?: ApartBytes): unknown {
  return new PlainReader(bytes, refs, apart).read();
}
