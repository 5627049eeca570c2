/**
 * The limit: codecs written by hand for exactly these messages, in Viceroy's layout and with the same checks: types and ranges when
 * encoding; bounds, counts, bits, padding and the exact end of the message when decoding. Each codec has its own memory, in variables of
 * its module; they share only this file. Errors have no path.
 */
const { latin1Slice, ucs2Slice } = Buffer.prototype;

export function fail() {
  throw new TypeError("invalid message");
}

/** The maximum number of bytes of a text. */
export const textBytes = (units) => units * 3 + 5;

let expectWide = false;

/** Writes all text of a message at `at`, where there is enough room. Returns the end. */
export function writeText(bytes, view, text, at) {
  const units = text.length;
  if (units === 0) return at;
  if (units > 8192) fail();
  if (units <= 12) {
    let i = 0;
    for (; i < units; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 255) break;
      bytes[at + 4 + i] = unit;
    }
    if (i === units) {
      view.setUint32(at, units * 2, true);
      return at + 4 + units;
    }
  }
  if (expectWide || bytes.utf8Write(text, at + 4, units * 3) !== units) {
    expectWide = isWide(text) || !isLatin1(bytes, text, at + 4);
    if (expectWide) {
      const from = (at + 5) & ~1;
      bytes[at + 4] = 0;
      bytes.ucs2Write(text, from, units * 2);
      if (mayHaveSurrogates(bytes, from, from + units * 2) && !text.isWellFormed()) fail();
      view.setUint32(at, units * 2 + 1, true);
      return from + units * 2;
    }
  }
  view.setUint32(at, units * 2, true);
  return at + 4 + units;
}

let words;
/** Reads two code units at a time from written memory, which is faster than examining the string. May return true because of adjacent memory. */
function mayHaveSurrogates(bytes, start, end) {
  if (words?.buffer !== bytes.buffer) words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2);
  const to = (bytes.byteOffset + end + 3) >> 2;
  let found = 0;
  let i = (bytes.byteOffset + start) >> 2;
  for (; i + 3 < to; i += 4) {
    found |= surrogates(words[i]) | surrogates(words[i + 1]) | surrogates(words[i + 2]) | surrogates(words[i + 3]);
  }
  for (; i < to; i++) found |= surrogates(words[i]);
  return (found & 0x80008000) !== 0;
}

function surrogates(word) {
  const units = (word ^ 0xd800d800) & 0xf800f800;
  return (units - 0x08000800) & ~units;
}

function isWide(text) {
  const end = Math.min(text.length, 128);
  for (let i = 0; i < end; i++) if (text.charCodeAt(i) > 255) return true;
  return false;
}

function isLatin1(bytes, text, at) {
  bytes.latin1Write(text, at, text.length);
  return bytes.latin1Slice(at, at + text.length) === text;
}

/** Reads all text of a message, in `[at, end)`. */
export function readText(source, view, at, end) {
  if (at === end) return "";
  if (at + 4 > end) fail();
  const header = view.getUint32(at, true);
  const units = header >>> 1;
  if ((header & 1) === 0) {
    if (at + 4 + units !== end) fail();
    return latin1Slice.call(source, at + 4, end);
  }
  const from = (at + 5) & ~1;
  if (from + units * 2 !== end || (from !== at + 4 && source[at + 4] !== 0)) fail();
  return ucs2Slice.call(source, from, end);
}

/** Reads a length of 255 or more, which follows the fixed part. */
export function readLong(view, at, end) {
  if (at + 4 > end) fail();
  const length = view.getUint32(at, true);
  if (length < 255) fail();
  return length;
}
