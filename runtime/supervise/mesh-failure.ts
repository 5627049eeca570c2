/**
 * The failure of ranks of a mesh, as the owner of the mesh receives it. A failure is a value: it can be kept, compared,
 * printed and sent. It describes what happened; the owner decides what to do about it.
 */
import type { FailureKind } from "../../generated/supervision.js";
import { describeCause, errorFromCause, type FailureCause } from "./failure-cause.js";

export type { FailureKind };

/** A mesh of the same owner that lost ranks because a process ended. */
export interface AffectedMesh {
  /** The name of the mesh, as it was spawned. */
  readonly mesh: string;
  /** The ranks that were lost, ascending, as numbered in the mesh that was spawned. */
  readonly ranks: readonly number[];
}

/** A failure after which the rank was made again. */
export interface PastFailure {
  /** The kind of the failure. */
  readonly kind: FailureKind;
  /** The error that made the rank fail. */
  readonly cause: FailureCause;
  /** The time of the failure, by the clock of the process that noticed it. */
  readonly at: Date;
}

/** The fields of a {@link MeshFailure}, as plain data. */
export interface FailureRecord {
  /** The name of the mesh, as it was spawned. */
  readonly mesh: string;
  /** The ranks that failed, ascending, as numbered in the mesh that was spawned. */
  readonly ranks: readonly number[];
  /** The kind of the failure. */
  readonly kind: FailureKind;
  /** The error that made the ranks fail. */
  readonly cause: FailureCause;
  /** The time of the failure, by the clock of the process that noticed it. */
  readonly at: Date;
  /** Other meshes of the same owner that lost ranks because the process ended. */
  readonly affected: readonly AffectedMesh[];
  /** Earlier failures of the rank, the oldest first. Absent if it has not been restarted. */
  readonly history?: readonly PastFailure[];
}

/**
 * The failure of one or more ranks of a mesh, as `supervise` of the owner receives it. It is a value: it can be kept,
 * and sent with {@link MeshFailureCodec}.
 */
export class MeshFailure {
  /** The name of the mesh, as it was spawned. */
  readonly mesh: string;
  /** The ranks that failed, ascending, as numbered in the mesh that was spawned, never in a slice. */
  readonly ranks: readonly number[];
  /** The kind of the failure. */
  readonly kind: FailureKind;
  /** The time of the failure, by the clock of the process that noticed it. */
  readonly at: Date;
  /** Other meshes of the same owner that lost ranks because the process ended. */
  readonly affected: readonly AffectedMesh[];
  /**
   * Earlier failures of the same rank after which it was restarted, the oldest first, at most 16. Not empty when a
   * restart policy has given up.
   */
  readonly history: readonly PastFailure[];
  readonly #cause: FailureCause;

  /** Makes a failure from its fields. */
  constructor(record: FailureRecord) {
    this.mesh = record.mesh;
    this.ranks = record.ranks;
    this.kind = record.kind;
    this.at = record.at;
    this.affected = record.affected;
    this.history = record.history ?? [];
    this.#cause = record.cause;
  }

  /** The error that made the ranks fail, with the name, message, stack and causes that it had where it was thrown. */
  get cause(): Error {
    return errorFromCause(this.#cause);
  }

  /** The fields of the failure, as the constructor takes them. */
  get record(): FailureRecord {
    const { mesh, ranks, kind, at, affected, history } = this;
    const record = { mesh, ranks, kind, cause: this.#cause, at, affected };
    return history.length === 0 ? record : { ...record, history };
  }

  /** The mesh and the ranks as text: `mesh "workers" failed at rank 3`. */
  get place(): string {
    return `mesh "${this.mesh}" failed at ${listRanks(this.ranks)}`;
  }

  /** One line of text: the mesh, the ranks, and the message of the first cause. */
  get summary(): string {
    return `${this.place}: ${this.#cause.message}`;
  }

  /**
   * Returns a description of several lines: mesh, ranks, kind, time, affected meshes, restarts, and the chain of
   * causes.
   */
  report(): string {
    const lines = [this.summary, `  kind: ${this.kind}`, `  at: ${this.at.toISOString()}`];
    if (this.affected.length > 0) {
      lines.push(
        `  affected: ${this.affected.map(({ mesh, ranks }) => `"${mesh}" at ${listRanks(ranks)}`).join(", ")}`,
      );
    }
    if (this.history.length > 0) {
      lines.push(`  restarted after ${this.history.length === 1 ? "one failure" : `${this.history.length} failures`}:`);
      for (const { at, kind, cause } of this.history) {
        lines.push(`    ${at.toISOString()} ${kind}: ${cause.name}: ${cause.message}`);
      }
    }
    const chain = describeCause(this.#cause).replaceAll("\n", "\n    ");
    return `${lines.join("\n")}\n  caused by ${chain}`;
  }

  /** Returns the summary, preceded by `MeshFailure: `. */
  toString(): string {
    return `MeshFailure: ${this.summary}`;
  }

  /** Returns the fields of the failure, for `JSON.stringify`. */
  toJSON(): object {
    return this.record;
  }
}

function listRanks(ranks: readonly number[]): string {
  return ranks.length === 1 ? `rank ${ranks[0]}` : `ranks ${ranks.join(", ")}`;
}
