/**
 * The identifiers that travel in frames. Their 64-bit parts are bigints, drawn at random by the proc that creates the
 * thing named, so that no registry is needed. Where a proc can be reached is a `Location`.
 */

/** The id of a proc: 64 random bits. Several procs can share one process. */
export type ProcId = bigint;

/** The id of a mesh of actors: 64 random bits. 0 is the agent of a proc. */
export type MeshId = bigint;

/**
 * The address at which a proc can be dialled, `unix:<absolute path>`, or that of a proc which relays to it
 * (`relayed-location.ts`). An empty location means that the proc can only be reached through its owner.
 */
export type Location = string;

/** The address of an actor. It stays the same when a failed rank is replaced in place. */
export interface ActorAddress {
  /** The proc that spawned the actor. */
  readonly proc: ProcId;
  /** The mesh of the actor. */
  readonly mesh: MeshId;
  /** The rank in the mesh that was spawned, from 0, never in a slice. */
  readonly rank: number;
}

/** Identifies one incarnation of an actor. */
export interface ActorId extends ActorAddress {
  /** A random number that is the same in all processes of a program. */
  readonly universe: bigint;
  /** 0 for the first incarnation; each restart adds 1. */
  readonly incarnation: number;
}

/** The mesh id of the agent of every proc; its rank is 0. */
export const AGENT_MESH: MeshId = 0n;

/** The mesh id of the root actor of every proc. Code outside of actors sends as the root actor. Its rank is 0. */
export const ROOT_MESH: MeshId = 1n;

export function isSameAddress(a: ActorAddress, b: ActorAddress): boolean {
  return a.mesh === b.mesh && a.rank === b.rank && a.proc === b.proc;
}

/** Formats an id as 16 hexadecimal digits. */
export function formatId(id: bigint): string {
  return id.toString(16).padStart(16, "0");
}
