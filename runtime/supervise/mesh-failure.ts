/**
 * What an owner is told when something it owns has failed. A value: it can be kept, compared, printed and sent. It says
 * what happened; what to do about it is the owner's decision, and not known here.
 */
import type { FailureKind } from "../../generated/supervision.js";
import { describeCause, errorFromCause, type FailureCause } from "./failure-cause.js";

export type { FailureKind };

/** A mesh that lost ranks together with the failed one: actors of the same owner on a process that ended. */
export interface AffectedMesh {
  readonly mesh: string;
  readonly ranks: readonly number[];
}

/** A failure that was answered by making its rank again. */
export interface PastFailure {
  readonly kind: FailureKind;
  readonly cause: FailureCause;
  readonly at: Date;
}

/** The fields of a failure: what travels. */
export interface FailureRecord {
  readonly mesh: string;
  readonly ranks: readonly number[];
  readonly kind: FailureKind;
  readonly cause: FailureCause;
  readonly at: Date;
  readonly affected: readonly AffectedMesh[];
  /** Absent: none. */
  readonly history?: readonly PastFailure[];
}

/** The failure of one or more ranks of a mesh. */
export class MeshFailure {
  /** The name of the mesh, as it was spawned. */
  readonly mesh: string;
  /** The ranks that failed, ascending, as numbered in the mesh as it was spawned (never in a slice of it). */
  readonly ranks: readonly number[];
  readonly kind: FailureKind;
  /** When it happened, by the clock of the process that saw it. */
  readonly at: Date;
  /** Meshes of the same owner that lost ranks along with a process. */
  readonly affected: readonly AffectedMesh[];
  /** Failures of the same rank after which it was made again, the oldest first: a restart policy has given up. */
  readonly history: readonly PastFailure[];
  readonly #cause: FailureCause;

  constructor(record: FailureRecord) {
    this.mesh = record.mesh;
    this.ranks = record.ranks;
    this.kind = record.kind;
    this.at = record.at;
    this.affected = record.affected;
    this.history = record.history ?? [];
    this.#cause = record.cause;
  }

  /** The error behind it, with its causes, as it was where it was thrown. */
  get cause(): Error {
    return errorFromCause(this.#cause);
  }

  /** What `new MeshFailure` takes. */
  get record(): FailureRecord {
    const { mesh, ranks, kind, at, affected, history } = this;
    const record = { mesh, ranks, kind, cause: this.#cause, at, affected };
    return history.length === 0 ? record : { ...record, history };
  }

  /** `mesh "workers" failed at rank 3`. */
  get place(): string {
    return `mesh "${this.mesh}" failed at ${listRanks(this.ranks)}`;
  }

  /** One line: the mesh, its ranks and the first cause. */
  get summary(): string {
    return `${this.place}: ${this.#cause.message}`;
  }

  /** Everything known, as text of several lines: mesh, ranks, kind, time, affected meshes, restarts, the chain of causes. */
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

  toString(): string {
    return `MeshFailure: ${this.summary}`;
  }

  toJSON(): object {
    return this.record;
  }
}

function listRanks(ranks: readonly number[]): string {
  return ranks.length === 1 ? `rank ${ranks[0]}` : `ranks ${ranks.join(", ")}`;
}
