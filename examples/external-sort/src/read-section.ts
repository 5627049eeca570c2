/** Reads sections of a file whose bounds lie anywhere in its lines. */
import { type FileHandle, open } from "node:fs/promises";
import type { Section } from "../generated/sort.js";

const newline = 10;
/** The number of bytes in which the end of a line is looked for at first. */
const lookAhead = 4096;

/**
 * Returns the lines that begin in a section, which may end after it. Each ends with a newline: one is added to the last line of a
 * file that has none.
 */
export async function readSection({ file, start, end }: Section): Promise<Buffer> {
  const input = await open(file);
  try {
    // A line begins at `start` if the byte before is a newline.
    const from = start === 0 ? 0 : await endOfLine(input, start - 1);
    const to = await endOfLine(input, end - 1);
    if (from >= to) return Buffer.alloc(0);
    const bytes = Buffer.allocUnsafeSlow(to - from + 1);
    const read = await readAll(input, bytes.subarray(0, to - from), from);
    if (bytes[read - 1] === newline) return bytes.subarray(0, read);
    bytes[read] = newline;
    return bytes.subarray(0, read + 1);
  } finally {
    await input.close();
  }
}

/** Returns the position after the first newline from a position on, or the size of the file. */
async function endOfLine(input: FileHandle, from: number): Promise<number> {
  for (let size = lookAhead, at = from; ; at += size, size *= 2) {
    const bytes = Buffer.allocUnsafe(size);
    const read = await readAll(input, bytes, at);
    const found = bytes.subarray(0, read).indexOf(newline);
    if (found >= 0) return at + found + 1;
    if (read < size) return at + read;
  }
}

/** Fills a buffer from a position of a file, and returns the number of bytes, which is less at the end of the file. */
export async function readAll(input: FileHandle, bytes: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await input.read(bytes, filled, bytes.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
