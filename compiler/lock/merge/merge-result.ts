/** The result of a merge of two locks. */
import type { BlockKind, Lock } from "../lock.js";
import type { MergeSide } from "./pair-members.js";

export interface MergedLocks {
  /** The merged lock. A member in conflict is that of our side. */
  readonly lock: Lock;
  readonly moved: readonly MovedId[];
  readonly conflicts: readonly LockConflict[];
}

/**
 * An id that a branch assigned and that belongs to another member after the merge. Data that was written with this id
 * can no longer be read.
 */
export interface MovedId {
  /** `Entry.ttl`, `Store.get(limit)`, or the actor itself. */
  readonly member: string;
  readonly side: MergeSide;
  readonly from: number;
  readonly to: number;
  /** Whether the id is that of an actor: 32 bits, written as in the lock. */
  readonly isActor: boolean;
}

/** One line on which the branches contradict each other. */
export interface LockConflict {
  readonly member: string;
  /** The contradiction, in words that follow the member's name: `renamed to …`. */
  readonly why: string;
  readonly block: { readonly kind: BlockKind; readonly name: string; readonly module: string };
  /** The id of the entry, or undefined for the first line of the block. */
  readonly id: number | undefined;
  /** The lines of both sides. */
  readonly ours: string;
  readonly theirs: string;
}
