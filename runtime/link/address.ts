/**
 * Who is who: the identifiers that travel in frames. 64-bit parts are bigints, drawn at random by the proc that creates
 * the thing named, so that no registry is needed to make one. Not where things are: that is a location (route.ts).
 */

/** The id of a proc: 64 random bits. Several procs can share one process. */
export type ProcId = bigint;

/** The id of a mesh of actors: 64 random bits. 0 is the agent of a proc. */
export type MeshId = bigint;

/** Where a proc can be reached directly: `unix:<absolute path>`, or empty: through its owner alone. */
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

/** The mesh id of the root actor of every proc: what code outside any actor sends as. Its rank is 0. */
export const ROOT_MESH: MeshId = 1n;

export function isSameAddress(a: ActorAddress, b: ActorAddress): boolean {
  return a.mesh === b.mesh && a.rank === b.rank && a.proc === b.proc;
}

/** 16 hex digits, as ids are printed everywhere. */
export function formatId(id: bigint): string {
  return id.toString(16).padStart(16, "0");
}
