/** The saved state of an actor, which is what a checkpoint of it contains, and how it is copied. */

/** A state that has been saved. */
export interface SavedState {
  /** The key of the actor interface. */
  readonly actor: string;
  /** The id of the actor interface from the lock file. */
  readonly actorId: number;
  readonly mesh: string;
  readonly rank: number;
  readonly at: Date;
  /** The fingerprint of the type of the state. */
  readonly fingerprint: bigint;
  /** The description of the type of the state as JSON. */
  readonly schema: string;
  /** The state in the protobuf layout. */
  readonly state: Uint8Array;
}

/**
 * Copies an encoded state before the actor goes on, because its parts can be memory that the actor changes.
 *
 * @returns the state as the checkpoint contains it
 */
export type StateCopier = (parts: readonly Uint8Array[]) => Uint8Array;

/** Returns the parts of one message as one array with memory of its own. */
export function joinParts(parts: readonly Uint8Array[]): Uint8Array {
  // Memory of the value follows a tag, so a single part is memory of its own.
  if (parts.length === 1) return parts[0]!;
  let size = 0;
  for (const part of parts) size += part.length;
  // Memory that is not zeroed: every byte is written below.
  const { buffer } = Buffer.allocUnsafeSlow(size);
  const joined = new Uint8Array(buffer);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
