/**
 * The string heap: all text of a message in one place, written with one native call a chunk and read back with one,
 * then cut. A chunk is Latin-1 when all its units are below 256, else UTF-16, so that any string, lone surrogates
 * included, comes back as it was, and no chunk is ever malformed.
 *
 * Chunk: u32 (units * 2 + wide), for wide ones a zero byte if that makes the text even, the text.
 */
import type { Writer } from "./writer.js";

/** What `Buffer` has and its types don't. */
interface TextSlices {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  ucs2Slice(this: Uint8Array, start: number, end: number): string;
}
const { latin1Slice, ucs2Slice } = Buffer.prototype as unknown as TextSlices;

/** Whether the last chunk written was wide: which test comes first. The outcome is the same either way. */
let expectWide = false;

/** Appends the heap of the writer's message and empties it. */
export function writeHeap(w: Writer): void {
  if (w.chunks.length > 0) {
    for (const chunk of w.chunks) writeChunk(w, chunk);
    w.chunks.length = 0;
  }
  if (w.text.length > 0) {
    writeChunk(w, w.text);
    w.text = "";
  }
}

function writeChunk(w: Writer, text: string): void {
  const units = text.length;
  const at = w.reserve(units * 3 + 5);
  const bytes = w.bytes;
  let header = units * 2;
  let end = at + 4 + units;
  // One pass that both writes ASCII and tells it apart: as many bytes as units.
  if (expectWide || bytes.utf8Write(text, at + 4, units * 3) !== units) {
    bytes.latin1Write(text, at + 4, units);
    expectWide = bytes.latin1Slice(at + 4, at + 4 + units) !== text;
    if (expectWide) {
      const from = (at + 5) & ~1;
      bytes[at + 4] = 0;
      bytes.ucs2Write(text, from, units * 2);
      header += 1;
      end = from + units * 2;
    }
  }
  w.view.setUint32(at, header, true);
  w.position = end;
}

/** The text of a chunk whose bytes are `[start, end)`. */
export function readText(bytes: Uint8Array, start: number, end: number, wide: boolean): string {
  return wide ? ucs2Slice.call(bytes, start, end) : latin1Slice.call(bytes, start, end);
}
