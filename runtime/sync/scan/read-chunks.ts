/** Reads a file in chunks, and notices when the file changes meanwhile. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { chunkEnd, MAX_CHUNK_BYTES, WHOLE_BYTES } from "../tree/chunks.js";
import type { Pace } from "./pace.js";

/** The size of the reads of large files in bytes. */
const WINDOW_BYTES = 4 * 2 ** 20;

/** The properties of a file that change when its content does. */
export interface FileStamp {
  readonly size: number;
  readonly modified: number;
  readonly changed: number;
  readonly inode: number;
}

export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return { size, modified: mtimeMs, changed: ctimeMs, inode: ino };
}

export function sameStamp(left: FileStamp, right: FileStamp): boolean {
  return (
    left.size === right.size &&
    left.modified === right.modified &&
    left.changed === right.changed &&
    left.inode === right.inode
  );
}

// A link that replaces the file is not followed, and a pipe that replaces it is not waited for.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a regular file, and calls `visit` with its chunks. The bytes of a chunk are valid during the call.
 *
 * @returns the properties of the file, or undefined if it has changed while it was read, or is not a regular file any more
 */
export async function readChunks(
  file: string,
  pace: Pace,
  visit: (chunk: Uint8Array, offset: number) => void,
): Promise<{ readonly stamp: FileStamp; readonly mode: number } | undefined> {
  const descriptor = openSync(file, FLAGS);
  try {
    const before = fstatSync(descriptor);
    if (!before.isFile()) return undefined;
    const read = before.size <= WHOLE_BYTES ? readWhole : readWindows;
    const bytes = await read(descriptor, before.size, pace, visit);
    const after = fstatSync(descriptor);
    const stamp = stampOf(after);
    if (bytes !== after.size || !sameStamp(stampOf(before), stamp)) return undefined;
    return { stamp, mode: after.mode };
  } finally {
    closeSync(descriptor);
  }
}

type Visit = (chunk: Uint8Array, offset: number) => void;

async function readWhole(descriptor: number, size: number, pace: Pace, visit: Visit): Promise<number> {
  await pace.pause();
  // One more byte shows that the file has grown.
  const bytes = Buffer.allocUnsafe(size + 1);
  const length = fill(descriptor, bytes, 0);
  if (length > 0) visit(bytes.subarray(0, length), 0);
  return length;
}

async function readWindows(descriptor: number, size: number, pace: Pace, visit: Visit): Promise<number> {
  const window = Buffer.allocUnsafe(Math.min(WINDOW_BYTES, size + MAX_CHUNK_BYTES));
  /** The offset in the file at which the window begins. */
  let base = 0;
  let held = 0;
  for (;;) {
    const filled = fill(descriptor, window, held);
    const isEnd = filled < window.length;
    let start = 0;
    while (start < filled && (isEnd || filled - start >= MAX_CHUNK_BYTES)) {
      const end = chunkEnd(window, start, filled);
      visit(window.subarray(start, end), base + start);
      start = end;
      await pace.pause();
    }
    base += start;
    if (isEnd) return base;
    window.copyWithin(0, start, filled);
    held = filled - start;
    // A file that grows all the time would never end.
    if (base > size) return base;
  }
}

/** Reads until the buffer is full or the file ends, and returns the end of what the buffer holds. */
function fill(descriptor: number, buffer: Buffer, from: number): number {
  let at = from;
  while (at < buffer.length) {
    const read = readSync(descriptor, buffer, at, buffer.length - at, null);
    if (read === 0) break;
    at += read;
  }
  return at;
}
