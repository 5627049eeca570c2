/**
 * States in memory that processes of the same machine share. The sender writes a state into a file in memory, and the receiver
 * maps the file, so that the bytes are copied once. The file has no name: the system frees it when no process refers to it
 * any more, however the processes end. This needs the addon.
 */
import { closeSync, openSync, readlinkSync, writevSync } from "node:fs";
import type { SharedState } from "../../../generated/checkpoint.js";
import { lazyModules } from "../../lazy-modules.js";
import { sharedMemoryAddon } from "../../link/transport/shared-memory/select-addon.js";
import { MEMORY_FILE_LINK } from "../../native/rdma-addon.js";

const TOKEN_BYTES = 16;

/**
 * Writes a state into a new file in memory.
 *
 * Writing to the file takes about as long as a copy into new memory. Writing through a mapping would take longer, because the
 * system would zero each page first.
 *
 * @param bytes the size of all parts
 * @returns the file, which the caller closes; undefined if this process or thread cannot share memory
 */
export function shareState(parts: readonly Uint8Array[], bytes: number): SharedState | undefined {
  const addon = sharedMemoryAddon();
  // Node.js warns of each descriptor that a thread closes and has not opened through Node.js.
  if (addon === undefined || !lazyModules.workerThreads.isMainThread) return undefined;
  const token = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
  let file: number | undefined;
  try {
    const { fd, buffer } = addon.createMemory(bytes + TOKEN_BYTES, false);
    file = fd;
    addon.unmap(buffer);
    writeAll(fd, [...parts, token]);
    return { pid: process.pid, file, token };
  } catch {
    // The system has no descriptors or memory of this kind left. The state is copied into ordinary memory instead.
    if (file !== undefined) closeSync(file);
    return undefined;
  }
}

/**
 * Maps a state that a process has shared. The memory stays after that process has ended.
 *
 * @returns undefined if the process is on another machine, or its memory cannot be mapped
 */
export function mapSharedState({ pid, file, token }: SharedState, bytes: number): Uint8Array | undefined {
  const addon = sharedMemoryAddon();
  const fd = addon === undefined ? undefined : openShared(pid, file);
  if (addon === undefined || fd === undefined) return undefined;
  try {
    // Writes stay private to this process.
    const buffer = addon.mapMemory(fd, 0, bytes + TOKEN_BYTES, 1);
    // On another machine or in another container, the same numbers can stand for another file.
    if (Buffer.compare(new Uint8Array(buffer, bytes), token) === 0) return new Uint8Array(buffer, 0, bytes);
    addon.unmap(buffer);
  } catch {
    // The file has another size.
  } finally {
    closeSync(fd);
  }
  return undefined;
}

/** Opens a file of another process that is memory of Viceroy. Opening another file could block, or have side effects. */
function openShared(pid: number, file: number): number | undefined {
  const path = `/proc/${pid}/fd/${file}`;
  try {
    return readlinkSync(path) === MEMORY_FILE_LINK ? openSync(path, "r") : undefined;
  } catch {
    return undefined;
  }
}

function writeAll(fd: number, parts: readonly Uint8Array[]): void {
  let rest = parts;
  while (rest.length > 0) {
    let written = writevSync(fd, rest);
    let whole = 0;
    while (whole < rest.length && written >= rest[whole]!.length) written -= rest[whole++]!.length;
    rest = rest.slice(whole);
    if (rest.length > 0) rest = [rest[0]!.subarray(written), ...rest.slice(1)];
  }
}
