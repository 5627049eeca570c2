/**
 * Bytes in memory that no process can change any more, and that other processes of the machine open. The memory is a file without a
 * name: the system frees it when no process refers to it, however the processes end. This needs the addon.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readlinkSync, readSync, writeSync } from "node:fs";
import { lazyModules } from "../../../lazy-modules.js";
import { MEMORY_FILE_LINK, type RdmaAddon } from "../../../native/rdma-addon.js";
import { sharedMemoryAddon } from "./select-addon.js";

const TOKEN_BYTES = 16;

/** The place at which another process of the machine finds the bytes. */
export interface SealedPlace {
  /** The process that has the file open. */
  readonly pid: number;
  /** The descriptor of the file in that process. */
  readonly file: number;
  /** The last bytes of the file: on another machine, or later, the same numbers can stand for another file. */
  readonly token: Uint8Array;
}

/** Returns whether this thread can seal memory. */
export function canSealMemory(): boolean {
  // Node.js warns of each descriptor that a thread closes and has not opened through Node.js.
  return sharedMemoryAddon() !== undefined && lazyModules.workerThreads.isMainThread;
}

/**
 * Copies bytes into new memory.
 *
 * @returns the file, which the caller closes; undefined if this thread cannot share memory, or the system has no descriptors or no
 *   memory of this kind left
 */
export function sealMemory(parts: readonly Uint8Array[]): SealedPlace | undefined {
  const addon = canSealMemory() ? sharedMemoryAddon() : undefined;
  if (addon === undefined) return undefined;
  const token = newToken();
  try {
    return { pid: process.pid, file: addon.storeMemory([...parts, token]), token };
  } catch {
    return undefined;
  }
}

/** Memory that is filled part by part, in any order, before it is sealed. */
export class UnsealedMemory {
  readonly #addon: RdmaAddon;
  readonly #bytes: number;
  readonly file: number;

  private constructor(addon: RdmaAddon, file: number, bytes: number) {
    this.#addon = addon;
    this.file = file;
    this.#bytes = bytes;
  }

  /** @returns undefined if this thread cannot share memory, or the system has no descriptors or no memory of this kind left */
  static create(bytes: number): UnsealedMemory | undefined {
    const addon = canSealMemory() ? sharedMemoryAddon() : undefined;
    if (addon === undefined) return undefined;
    let file: number | undefined;
    try {
      file = addon.beginMemory();
      ftruncateSync(file, bytes + TOKEN_BYTES);
      return new UnsealedMemory(addon, file, bytes);
    } catch {
      if (file !== undefined) closeSync(file);
      return undefined;
    }
  }

  /** @throws Error when the system has no memory left */
  write(bytes: Uint8Array, at: number): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(this.file, bytes, done, bytes.length - done, at + done);
  }

  /** Seals the memory. Its file is that of the place now, and the caller closes it. */
  seal(): SealedPlace {
    const token = newToken();
    this.write(token, this.#bytes);
    this.#addon.sealMemory(this.file);
    return { pid: process.pid, file: this.file, token };
  }

  /** Frees the memory in place of sealing it. */
  close(): void {
    closeSync(this.file);
  }
}

/** Returns random bytes that identify a file. */
export function newToken(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
}

/**
 * Opens the memory of another process, or of this one once more.
 *
 * @param bytes the number of bytes without the token
 * @returns a descriptor, which the caller closes; undefined if the memory is not there, or on another machine
 */
export function openSealed(place: SealedPlace, bytes: number): number | undefined {
  return openByToken(place, bytes, (link) => link === MEMORY_FILE_LINK);
}

/**
 * Opens a file that another process has open, if it ends with the token, and marks it as used by this process.
 *
 * @param bytes the number of bytes before the token
 * @param isExpected decides by the target of the link of the descriptor, whether the file may be opened: opening another one could
 *   have side effects
 * @returns a descriptor, which the caller closes; undefined if there is no such file
 */
export function openByToken(
  { pid, file, token }: SealedPlace,
  bytes: number,
  isExpected: (link: string) => boolean,
): number | undefined {
  const addon = sharedMemoryAddon();
  if (addon === undefined || token.length !== TOKEN_BYTES) return undefined;
  const path = `/proc/${pid}/fd/${file}`;
  let opened: number | undefined;
  try {
    if (!isExpected(readlinkSync(path))) return undefined;
    // Opening a pipe waits without the flag.
    opened = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = Buffer.alloc(TOKEN_BYTES + 1);
    if (
      fstatSync(opened).isFile() &&
      readSync(opened, found, 0, TOKEN_BYTES + 1, bytes) === TOKEN_BYTES &&
      found.compare(token, 0, TOKEN_BYTES, 0, TOKEN_BYTES) === 0
    ) {
      markUsed(addon, opened);
      return opened;
    }
  } catch {
    // The process has ended, has closed the file, or belongs to another user.
  }
  if (opened !== undefined) closeSync(opened);
  return undefined;
}

function markUsed(addon: RdmaAddon, file: number): void {
  try {
    addon.markUsed(file);
  } catch {
    // Some file systems have no locks. The owner then thinks that nobody uses the file, which costs nothing but memory.
  }
}

/** Returns whether other processes have a file open, or have mapped it, whose descriptor this process has. */
export function isUsedElsewhere(file: number): boolean {
  try {
    return addonOf().isUsed(file);
  } catch {
    return false;
  }
}

/**
 * Maps a part of sealed memory. Writes stay private to the mapping.
 *
 * @param offset in bytes, a multiple of 4096
 */
export function mapSealed(file: number, offset: number, bytes: number): ArrayBuffer {
  return addonOf().mapMemory(file, offset, bytes, 1);
}

/** Makes V8 count memory that a value keeps. @param bytes negative when it is freed */
export function countSealed(bytes: number): void {
  addonOf().countMemory(bytes);
}

function addonOf(): RdmaAddon {
  return sharedMemoryAddon()!;
}
