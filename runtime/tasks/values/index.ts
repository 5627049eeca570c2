/**
 * Plain values: what tasks without a schema take and return. Encoding copies: neither changes of the value nor of a decoded value
 * show anywhere else. An object that a value contains twice is copied twice, and cycles are refused.
 */

export { type ArgumentPart, decodeArguments, encodeArguments } from "./argument-list.js";
export { type PlainFault, type PlainPlace, PlainValueError, putPlace } from "./plain-value-error.js";
export type { RefReader, RefWriter } from "./references.js";

import { explainRefusal } from "./explain-refusal.js";
import { PlainReader } from "./plain-reader.js";
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
  const writer = idleWriter ?? new PlainWriter();
  idleWriter = undefined;
  try {
    return writer.encode(value, refs);
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
 * @param bytes the encoded value
 * @param refs makes references to results
 */
export function decodePlain(bytes: Uint8Array, refs: RefReader): unknown {
  return new PlainReader(bytes, refs).read();
}
