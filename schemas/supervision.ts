/** Messages about failures. */
import type { Uint32, Uint64 } from "viceroy/schema";

/** One error of a chain of causes. */
export interface FailureCause {
  /** The class of the error, from its property `name`. */
  name: string;
  message: string;
  stack?: string;
  cause?: FailureCause;
}

/**
 * How a rank failed.
 *
 * - `process`: its process ended.
 * - `spawn`: its process could not be started, or its actor class could not be loaded.
 * - `constructor`, `init`: the constructor or `init` of its actor threw.
 * - `message`: a handler threw, and no caller waits for the answer, or code that a handler had left running threw.
 * - `supervise`: the actor did not handle the failure of a mesh that it owns.
 * - `stuck`: a handler ran longer than the watchdog allows.
 * - `killed`: another actor or the program ended it.
 */
export type FailureKind = "process" | "spawn" | "constructor" | "init" | "message" | "supervise" | "killed" | "stuck";

/** A failure after which the rank was restarted. */
export interface PastFailure {
  kind: FailureKind;
  cause: FailureCause;
  at: Date;
}

/** A mesh that lost ranks because a process ended. */
export interface AffectedMesh {
  mesh: string;
  ranks: Uint32[];
}

/** The failure of one or more ranks of a mesh: the fields of a `MeshFailure`. */
export interface FailureRecord {
  /** The name of the mesh, as it was spawned. */
  mesh: string;
  /** The ranks that failed, ascending, as numbered in the mesh that was spawned. */
  ranks: Uint32[];
  kind: FailureKind;
  cause: FailureCause;
  at: Date;
  affected: AffectedMesh[];
  /** Earlier failures of the rank after which it was restarted, the oldest first. */
  history?: PastFailure[];
}

/** Tells the proc that spawned an actor that the actor has failed. */
export interface ActorNotice {
  mesh: Uint64;
  rank: Uint32;
  incarnation: Uint32;
  kind: FailureKind;
  cause: FailureCause;
  at: Date;
}
