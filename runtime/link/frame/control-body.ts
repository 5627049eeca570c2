/**
 * Reads and writes the bodies of control frames, which are fixed fields and strings one after another. Reading checks
 * every length and throws ProtocolError for a malformed body. Codecs read and write the messages of users.
 */
import { thrownMessage } from "../../thrown.js";
import type { Reader } from "../../wire/reader.js";
import type { Writer } from "../../wire/writer.js";
import { HEADER_BYTES, ProtocolError } from "./frame.js";

/**
 * Reads the whole body that the reader was set to.
 * @param what the kind of the frame, for errors
 * @throws ProtocolError if the body is not exactly what `fields` reads
 */
export function readBody<T>(r: Reader, what: string, fields: (r: Reader) => T): T {
  const value = readFields(r, what, fields);
  if (r.position !== r.end) throw new ProtocolError(`cannot read ${what}: ${r.end - r.position} bytes too many`);
  return value;
}

/**
 * Reads the first fields of the body that the reader was set to. More may follow them.
 * @param what the kind of the frame, for errors
 * @throws ProtocolError if the body ends before the fields do
 */
export function readFields<T>(r: Reader, what: string, fields: (r: Reader) => T): T {
  try {
    return fields(r);
  } catch (error) {
    throw new ProtocolError(`cannot read ${what}: ${thrownMessage(error)}`, { cause: error });
  }
}

export function writeU32(w: Writer, value: number): void {
  const at = w.reserve(4);
  w.view.setUint32(at, value, true);
}

export function readU32(r: Reader): number {
  const at = r.take(4);
  return r.view.getUint32(at, true);
}

export function writeU64(w: Writer, value: bigint): void {
  const at = w.reserve(8);
  w.view.setBigUint64(at, value, true);
}

export function readU64(r: Reader): bigint {
  const at = r.take(8);
  return r.view.getBigUint64(at, true);
}

export function writeF64(w: Writer, value: number): void {
  const at = w.reserve(8);
  w.view.setFloat64(at, value, true);
}

export function readF64(r: Reader): number {
  const at = r.take(8);
  return r.view.getFloat64(at, true);
}

/** Writes the length of a text in bytes, and the text in UTF-8. */
export function writeText(w: Writer, text: string): void {
  const length = Buffer.byteLength(text);
  writeU32(w, length);
  const at = w.reserve(length);
  w.bytes.utf8Write(text, at, length);
}

export function readText(r: Reader): string {
  const length = readU32(r);
  const at = r.take(length);
  return Buffer.from(r.bytes.buffer, r.bytes.byteOffset + at, length).toString();
}

/** Returns the number of bytes of the message in the frame at `at`, blocks included. This is the credit that the message uses. */
export function bodySize(w: Writer, at: number): number {
  let size = w.position - at - HEADER_BYTES;
  for (const block of w.blocks) size += block.length;
  return size;
}
