/**
 * Who is who: the identifiers that travel in frames. 64-bit parts are bigints, drawn at random by the proc that creates
 * the thing named, so that no registry is needed to make one. Not where things are: that is a location (route.ts).
 */

/** One logical process. Several may live in one operating-system process (inline isolation). */
export type ProcId = bigint;

/** One mesh of actors, drawn by its owner. Mesh 0 is the proc's own agent. */
export type MeshId = bigint;

/** Where a proc can be reached directly: `unix:<absolute path>`, or empty: through its owner alone. */
export type Location = string;

/** The address of an actor: stays the same when a failed rank is replaced in place. */
export interface ActorAddress {
  readonly proc: ProcId;
  readonly mesh: MeshId;
  /** Rank in the mesh as it was spawned, never in a slice of it. */
  readonly rank: number;
}

/** One life of one actor. */
export interface ActorId extends ActorAddress {
  /** Drawn once per tree of processes. */
  readonly universe: bigint;
  /** 0 for the first, one more for each replacement. */
  readonly incarnation: number;
}

/** The mesh id of the agent of every proc; its rank is 0. */
export const AGENT_MESH: MeshId = 0n;

/** The mesh id of the root actor of every proc: what code outside any actor sends as. Its rank is 0. */
export const ROOT_MESH: MeshId = 1n;

export function sameAddress(a: ActorAddress, b: ActorAddress): boolean {
  return a.mesh === b.mesh && a.rank === b.rank && a.proc === b.proc;
}

/** 16 hex digits, as ids are printed everywhere. */
export function hex64(id: bigint): string {
  return id.toString(16).padStart(16, "0");
}
