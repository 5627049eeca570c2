/** Divides files into pieces, so that several processes can read one file, and reads the bytes between two cuts. */
import type { FileHandle } from "node:fs/promises";
import type { Piece } from "../generated/analyst.js";

const pieceBytes = 1 << 20;
/** The maximum distance in bytes by which a cut moves to reach white space. A longer run of text is split. */
const reach = 1 << 16;
/** Bytes at the beginning of a file that decide whether it is text. */
const headBytes = 8192;

const space = 0x20;
const newline = 0x0a;

export function piecesOf(file: string, size: number): Piece[] {
  const pieces: Piece[] = [];
  for (let start = 0; start < size; start += pieceBytes) {
    pieces.push({ file, start, end: Math.min(start + pieceBytes, size) });
  }
  return pieces;
}

/** The bytes from the first cut at or after `start` to the first cut at or after `end`. */
export async function readPiece(handle: FileHandle, { start, end }: Piece): Promise<Uint8Array> {
  const first = Math.max(0, start - 1);
  const bytes = await readFully(handle, first, end + reach);
  const from = start === 0 ? 0 : cutAfter(bytes, start - first);
  return bytes.subarray(from, Math.max(from, cutAfter(bytes, end - first)));
}

/** Returns whether a file is binary. Text contains no zero bytes; nearly all other formats contain some near the beginning. */
export async function isBinary(handle: FileHandle): Promise<boolean> {
  return (await readFully(handle, 0, headBytes)).includes(0);
}

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}

/** Returns the first index from `at` on that follows white space, or else `at`, moved out of the middle of a character. */
function cutAfter(bytes: Uint8Array, at: number): number {
  const limit = Math.min(bytes.length, at + reach);
  for (let i = at; i < limit; i++) {
    if (bytes[i - 1]! <= space) return i;
  }
  let cut = Math.min(at, bytes.length);
  if (limit < at + reach) return bytes.length;
  while ((bytes[cut]! & 0xc0) === 0x80) cut++;
  return cut;
}

async function readFully(handle: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, start + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
