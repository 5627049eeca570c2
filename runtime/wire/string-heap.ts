/**
 * Chunks of the string heap: all text of a message in one place, written with one native call a chunk and read back
 * with one, then cut. A chunk is Latin-1 when all its units are below 256, else UTF-16. Lone surrogates are no text: they
 * are refused when they are written, since no other layout, and no other language, could take them. What is read is
 * not searched for them: no writer of ours sends any, and nothing breaks of them.
 *
 * Chunk: u32 (units * 2 + wide), for wide ones a zero byte if that makes the text even, the text.
 */
import type { Batch } from "./batch.js";
import { CodecRefusal } from "./codec-refusal.js";
import type { TextBuffer } from "./page.js";

/** What `Buffer` has and its types don't. */
interface TextSlices {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  ucs2Slice(this: Uint8Array, start: number, end: number): string;
}
const { latin1Slice, ucs2Slice } = Buffer.prototype as unknown as TextSlices;

/** Texts up to this size are never ropes (V8's shortest has 13 units), and so are cheap to read unit by unit. */
const SHORT_UNITS = 12;

/** Whether the last chunk written was wide: which test comes first. The outcome is the same either way. */
let expectWide = false;

/** Appends a chunk. */
export function writeChunk(batch: Batch, text: string): void {
  const units = text.length;
  const at = batch.reserve(units * 3 + 5);
  const bytes = batch.bytes;
  if (units <= SHORT_UNITS && writeShort(batch, at, text)) return;
  let header = units * 2;
  let end = at + 4 + units;
  // UTF-8 of as many bytes as units is ASCII: tested and written in one pass.
  if (expectWide || bytes.utf8Write(text, at + 4, units * 3) !== units) {
    expectWide = startsWide(text) || !writeLatin1(bytes, at + 4, text);
    if (expectWide) {
      const from = (at + 5) & ~1;
      bytes[at + 4] = 0;
      bytes.ucs2Write(text, from, units * 2);
      header += 1;
      end = from + units * 2;
      if (mayContainSurrogates(batch.words, from >> 2, (end + 3) >> 2) && !text.isWellFormed())
        throw new CodecRefusal();
    }
  }
  batch.view.setUint32(at, header, true);
  batch.position = end;
}

/** Writes a text that a native call would take longer for. False if it is wide. */
function writeShort(batch: Batch, at: number, text: string): boolean {
  const { bytes } = batch;
  const units = text.length;
  for (let i = 0; i < units; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 255) return false;
    bytes[at + 4 + i] = unit;
  }
  batch.view.setUint32(at, units * 2, true);
  batch.position = at + 4 + units;
  return true;
}

/**
 * Whether one of the units in `words[from, to)` is a surrogate. What has been written can be asked for two units at once, in little more
 * than half the time that it takes to ask the text.
 */
function mayContainSurrogates(words: Int32Array, from: number, to: number): boolean {
  let found = 0;
  let i = from;
  for (; i + 3 < to; i += 4) {
    found |=
      surrogateBits(words[i] as number) |
      surrogateBits(words[i + 1] as number) |
      surrogateBits(words[i + 2] as number) |
      surrogateBits(words[i + 3] as number);
  }
  for (; i < to; i++) found |= surrogateBits(words[i] as number);
  return (found & 0x80008000) !== 0;
}

/** Two units: the highest bit of one is set if it begins with the bits 11011, as surrogates do; a unit above one that does may be told to. */
function surrogateBits(word: number): number {
  const units = (word ^ 0xd800d800) & 0xf800f800;
  return (units - 0x08000800) & ~units;
}

/** Whether one of the first units is wide already; of most wide text it is. */
function startsWide(text: string): boolean {
  const end = Math.min(text.length, 128);
  for (let i = 0; i < end; i++) if (text.charCodeAt(i) > 255) return true;
  return false;
}

/** Writes `text` as Latin-1. Whether that lost nothing. */
function writeLatin1(bytes: TextBuffer, at: number, text: string): boolean {
  bytes.latin1Write(text, at, text.length);
  return bytes.latin1Slice(at, at + text.length) === text;
}

/** The text of a chunk whose bytes are `[start, end)`. */
export function readChunk(bytes: Uint8Array, start: number, end: number, wide: boolean): string {
  return wide ? ucs2Slice.call(bytes, start, end) : latin1Slice.call(bytes, start, end);
}
