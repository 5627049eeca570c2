/**
 * Chunks of the string heap, which contains all text of a message. One native call writes or reads a chunk; strings are cut
 * out of it. A chunk is Latin-1 if all its UTF-16 units are below 256, and UTF-16 otherwise. Lone surrogates are refused when
 * they are written, since neither UTF-8 nor other languages can represent them. Reading does not search for them: writers
 * never send any, and they do no harm.
 *
 * Chunk: u32 (units * 2 + wide), a zero byte if the chunk is wide and its text would start at an odd offset, text.
 */
import type { Batch } from "./batch.js";
import { CodecRefusal } from "./codec-refusal.js";
import type { TextBuffer } from "./page.js";

/** Methods of `Buffer` that its type declarations lack. */
interface TextSlices {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  ucs2Slice(this: Uint8Array, start: number, end: number): string;
}
const { latin1Slice, ucs2Slice } = Buffer.prototype as unknown as TextSlices;

/** Texts up to this number of units are never ropes in V8, whose shortest rope has 13, so that reading single units is cheap. */
const SHORT_UNITS = 12;

/** Whether the last chunk was wide. Selects the faster order of the tests, and does not change the result. */
let expectWide = false;

/** Appends a chunk. */
export function writeChunk(batch: Batch, text: string): void {
  const units = text.length;
  const at = batch.reserve(units * 3 + 5);
  const bytes = batch.bytes;
  if (units <= SHORT_UNITS && writeShort(batch, at, text)) return;
  let header = units * 2;
  let end = at + 4 + units;
  // Text with as many UTF-8 bytes as units is ASCII. One pass tests and writes it.
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

/** Writes a short text without a native call. Returns false if the text is wide. */
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
 * Returns whether one of the units in `words[from, to)` may be a surrogate. Testing two written units at once takes little
 * more than half the time of testing the units of the string.
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

/**
 * Sets the highest bit of each of two units if the unit starts with the bits 11011, as surrogates do. If the lower unit does,
 * the bit of the upper one can be set, too.
 */
function surrogateBits(word: number): number {
  const units = (word ^ 0xd800d800) & 0xf800f800;
  return (units - 0x08000800) & ~units;
}

/** Returns whether one of the first units is wide, as in most wide texts. */
function startsWide(text: string): boolean {
  const end = Math.min(text.length, 128);
  for (let i = 0; i < end; i++) if (text.charCodeAt(i) > 255) return true;
  return false;
}

/** Writes `text` as Latin-1. Returns whether no unit was lost. */
function writeLatin1(bytes: TextBuffer, at: number, text: string): boolean {
  bytes.latin1Write(text, at, text.length);
  return bytes.latin1Slice(at, at + text.length) === text;
}

/** Returns the text of a chunk whose bytes are `[start, end)`. */
export function readChunk(bytes: Uint8Array, start: number, end: number, wide: boolean): string {
  return wide ? ucs2Slice.call(bytes, start, end) : latin1Slice.call(bytes, start, end);
}
