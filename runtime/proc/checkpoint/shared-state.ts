/**
 * States in memory that processes of the same machine share. The sender writes a state into a file in memory, and the receiver
 * maps the file, so that the bytes are copied once. This needs the addon.
 */
import { closeSync } from "node:fs";
import type { SharedState } from "../../../generated/checkpoint.js";
import { mapSealed, openSealed, sealMemory } from "../../link/transport/shared-memory/sealed-memory.js";

/**
 * Copies a state into new memory.
 *
 * @returns the file, which the caller closes; undefined if this process or thread cannot share memory
 */
export function shareState(parts: readonly Uint8Array[]): SharedState | undefined {
  return sealMemory(parts);
}

/**
 * Maps a state that a process has shared. The memory stays after that process has ended.
 *
 * @returns undefined if the process is on another machine, or its memory cannot be mapped
 */
export function mapSharedState(state: SharedState, bytes: number): Uint8Array | undefined {
  const file = openSealed(state, bytes);
  if (file === undefined) return undefined;
  try {
    return new Uint8Array(mapSealed(file, 0, bytes));
  } catch {
    // The process has no room for another mapping.
    return undefined;
  } finally {
    closeSync(file);
  }
}
