/**
 * Bodies of control frames: a few fixed fields and strings, as a message of the lockstep layout with a string heap.
 * Reading one checks every length; anything wrong is an error of the peer.
 */

import type { Reader } from "../wire/reader.js";
import type { Writer } from "../wire/writer.js";
import { HEADER, ProtocolError } from "./frame.js";

/** The place of the string heap is the first word of a body. */
const HEAP_WORD = 4;

/** Writes a body with `fields`; the frame's header stands right before the writer's position. */
export function writeBody(w: Writer, fields: (w: Writer) => void): void {
  const at = w.begin(HEAP_WORD);
  fields(w);
  w.endText(at);
}

/**
 * Reads a body from a reader that was set to it.
 * @throws ProtocolError if it is not exactly what `fields` reads
 */
export function readBody<T>(r: Reader, what: string, fields: (r: Reader) => T): T {
  try {
    r.openText(r.take(HEAP_WORD));
    const value = fields(r);
    if (r.position !== r.end) throw new RangeError("it is too long");
    r.closeText();
    return value;
  } catch (error) {
    throw new ProtocolError(`cannot read ${what}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

export function writeU32(w: Writer, value: number): void {
  const at = w.reserve(4);
  w.view.setUint32(at, value, true);
}

export function readU32(r: Reader): number {
  return r.view.getUint32(r.take(4), true);
}

export function writeU64(w: Writer, value: bigint): void {
  const at = w.reserve(8);
  w.view.setBigUint64(at, value, true);
}

export function readU64(r: Reader): bigint {
  return r.view.getBigUint64(r.take(8), true);
}

/** Bytes of a body up to `position`, for the credit of the message in it. */
export function bodySize(w: Writer, at: number): number {
  let size = w.position - at - HEADER;
  for (const block of w.blocks) size += block.length;
  return size;
}
