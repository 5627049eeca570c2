/** What processes tell each other of failures. */
import type { Uint32, Uint64 } from "viceroy/schema";

/** One error of a chain: what was thrown, and what caused it. */
export interface FailureCause {
  /** The class of the error, as its `name` says. */
  name: string;
  message: string;
  stack?: string;
  cause?: FailureCause;
}

/**
 * How a rank failed. `process`: its process ended. `spawn`: its actor could not be loaded or its process not started.
 * `constructor`, `init`: its actor never came to be. `message`: a handler threw where nobody waits for the answer.
 * `supervise`: it did not handle the failure of something it owns. `stuck`: a handler took longer than it may. `killed`:
 * somebody ordered it.
 */
export type FailureKind = "process" | "spawn" | "constructor" | "init" | "message" | "supervise" | "killed" | "stuck";

/** A failure that was answered by making its rank again. */
export interface PastFailure {
  kind: FailureKind;
  cause: FailureCause;
  at: Date;
}

/** A mesh that lost ranks together with the failed one. */
export interface AffectedMesh {
  mesh: string;
  ranks: Uint32[];
}

/** The failure of one or more ranks of a mesh: what travels of a `MeshFailure`. */
export interface FailureRecord {
  /** The name of the mesh, as it was spawned. */
  mesh: string;
  /** Ascending; as numbered in the mesh as it was spawned. */
  ranks: Uint32[];
  kind: FailureKind;
  cause: FailureCause;
  at: Date;
  affected: AffectedMesh[];
  /** Failures of the same rank after which it was made again, the oldest first. */
  history?: PastFailure[];
}

/** One actor has failed: what its proc tells the proc that ordered it. */
export interface ActorNotice {
  mesh: Uint64;
  rank: Uint32;
  incarnation: Uint32;
  kind: FailureKind;
  cause: FailureCause;
  at: Date;
}
