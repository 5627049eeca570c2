/**
 * Values on disk: files without a name, which the system removes when no process has them open, however the processes end. The bytes of
 * the value are followed by the checksums of their blocks, and by the random token that identifies the file.
 */
import { closeSync, constants, openSync, readSync, statfsSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { StoredMemory } from "../../../generated/tasks.js";
import { formatBytes } from "../../../shared/text/format-bytes.js";
import { ObjectLostError } from "../errors.js";
import { crc32, newToken, openByToken } from "../kernel.js";

/** The number of bytes that one checksum covers. The last block can be shorter. */
export const BLOCK_BYTES = 2 ** 20;

const SUM_BYTES = 4;

/** Opens a file that has no name from the beginning. Node.js has no constant for it; this is that of Linux on x64 and arm64. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;

/** The targets of the links of such files in /proc: files that never had a name, and those that had one of ours. */
const spillLink = /\/(#\d+|viceroy-[0-9a-f]{32}\.object) \(deleted\)$/;

/** A value on disk. */
export interface SpillFile {
  readonly file: number;
  readonly token: Uint8Array;
  /** The CRC-32 of each block. */
  readonly sums: Uint32Array;
}

/** Calls `write` with all bytes of a value, in pieces of any length. */
export type WritePieces = (write: (piece: Uint8Array) => void) => void;

/** Returns the number of bytes on disk of a value. */
export function spilledSize(size: number): number {
  return size + blocksOf(size) * SUM_BYTES + 16;
}

function blocksOf(size: number): number {
  return Math.ceil(size / BLOCK_BYTES);
}

/**
 * Writes a value to disk. Nothing is left when that fails.
 *
 * @param folder the folder, which must exist
 * @throws Error of the system: ENOSPC, EFBIG, ENOENT, EACCES
 */
export function writeSpilled(folder: string, size: number, pieces: WritePieces): SpillFile {
  checkSpace(folder, spilledSize(size));
  const token = newToken();
  const file = openUnnamed(folder, token);
  try {
    const sums = new Uint32Array(blocksOf(size));
    let at = 0;
    pieces((piece) => {
      for (let from = 0; from < piece.length; ) {
        const block = Math.floor(at / BLOCK_BYTES);
        const part = stable(piece.subarray(from, from + Math.min(piece.length - from, (block + 1) * BLOCK_BYTES - at)));
        sums[block] = crc32(part, sums[block]);
        writeAll(file, part);
        from += part.length;
        at += part.length;
      }
    });
    writeAll(file, new Uint8Array(sums.buffer));
    writeAll(file, token);
    return { file, token, sums };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Returns bytes that no other thread changes between the computation of the checksum and the write. */
function stable(bytes: Uint8Array): Uint8Array {
  return bytes.buffer instanceof SharedArrayBuffer ? bytes.slice() : bytes;
}

/** Writing until the disk is full would take long, and other programs would have no space meanwhile. */
function checkSpace(folder: string, bytes: number): void {
  const free = freeBytes(folder);
  if (free >= bytes) return;
  const error: NodeJS.ErrnoException = new Error(
    `ENOSPC: no space left on device: ${formatBytes(free)} are free in ${folder}`,
  );
  error.code = "ENOSPC";
  throw error;
}

/** Returns the number of bytes that are free in a folder. @throws Error of the system */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function openUnnamed(folder: string, token: Uint8Array): number {
  try {
    return openSync(folder, O_TMPFILE | constants.O_RDWR, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Not all file systems have files without a name.
    if (code !== "EOPNOTSUPP" && code !== "EISDIR" && code !== "EINVAL") throw error;
  }
  const path = join(folder, `viceroy-${Buffer.from(token).toString("hex")}.object`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return file;
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Opens the value of another process of the machine. Returns undefined if it is not there. */
export function openSpilled(memory: StoredMemory): SpillFile | undefined {
  const { size, token } = memory;
  const file = openByToken(memory, spilledSize(size) - token.length, (link) => spillLink.test(link));
  if (file === undefined) return undefined;
  const sums = new Uint32Array(blocksOf(size));
  const bytes = new Uint8Array(sums.buffer);
  if (readSync(file, bytes, 0, bytes.length, size) === bytes.length) return { file, token, sums };
  closeSync(file);
  return undefined;
}

let lastBlock: Uint8Array | undefined;

/**
 * Returns memory for one block, which is the same each time: it is overwritten by the next caller, so nobody keeps it. New memory for each
 * value could be more than the value itself, and V8 lets such memory gather.
 */
export function memoryOfBlock(): Uint8Array {
  lastBlock ??= new Uint8Array(BLOCK_BYTES);
  return lastBlock;
}

/**
 * Copies a part of a value, after its checksums have been compared.
 *
 * @param size the number of bytes of the value
 * @throws ObjectLostError if the file is damaged
 */
export function readSpilled(spilled: SpillFile, size: number, from: number, bytes: number): ArrayBuffer {
  const copy = new Uint8Array(bytes);
  for (let block = Math.floor(from / BLOCK_BYTES); block * BLOCK_BYTES < from + bytes; block++) {
    const begin = block * BLOCK_BYTES;
    const end = Math.min(begin + BLOCK_BYTES, size);
    if (begin >= from && end <= from + bytes) {
      readBlock(spilled, size, block, copy.subarray(begin - from, end - from));
      continue;
    }
    const whole = memoryOfBlock().subarray(0, end - begin);
    readBlock(spilled, size, block, whole);
    const first = Math.max(begin, from);
    copy.set(whole.subarray(first - begin, Math.min(end, from + bytes) - begin), first - from);
  }
  return copy.buffer;
}

/** Calls `write` with each block of a value. @throws ObjectLostError if the file is damaged */
export function copySpilled(spilled: SpillFile, size: number, write: (block: Uint8Array) => void): void {
  const scratch = memoryOfBlock();
  for (let block = 0; block * BLOCK_BYTES < size; block++) {
    const whole = scratch.subarray(0, Math.min(BLOCK_BYTES, size - block * BLOCK_BYTES));
    readBlock(spilled, size, block, whole);
    write(whole);
  }
}

function readBlock({ file, sums }: SpillFile, size: number, block: number, into: Uint8Array): void {
  const from = block * BLOCK_BYTES;
  try {
    for (let at = 0; at < into.length; ) {
      const read = readSync(file, into, at, into.length - at, from + at);
      if (read === 0) throw new Error("the file is shorter than it was");
      at += read;
    }
  } catch (cause) {
    throw damaged(size, from, into.length, `cannot be read: ${(cause as Error).message}`, { cause });
  }
  const sum = crc32(into);
  if (sum !== sums[block]) {
    const found = `have the checksum ${sum.toString(16)}, and had ${sums[block]!.toString(16)} when they were written`;
    throw damaged(size, from, into.length, found);
  }
}

function damaged(size: number, from: number, bytes: number, found: string, options?: ErrorOptions): ObjectLostError {
  return new ObjectLostError(
    `cannot read a value of ${formatBytes(size)} from disk: the bytes ${from} to ${from + bytes} of its file ${found}; ` +
      "run again what has made the value, and check the disk",
    options,
  );
}
