/** What a merge of two locks says of itself. */
import type { BlockKind, Lock } from "../lock.js";
import type { MergeSide } from "./pair-members.js";

export interface MergedLocks {
  /** In conflicts, as ours has it. */
  readonly lock: Lock;
  readonly moved: readonly MovedId[];
  readonly conflicts: readonly LockConflict[];
}

/** An id that a branch gave, and that belongs to another member now: what was written with it cannot be read any more. */
export interface MovedId {
  /** `Entry.ttl`, `Store.get(limit)`, or the actor itself. */
  readonly member: string;
  readonly side: MergeSide;
  readonly from: number;
  readonly to: number;
  /** 32 bits, written as in the lock. */
  readonly isActor: boolean;
}

/** One line on which the branches contradict each other. */
export interface LockConflict {
  readonly member: string;
  /** Follows the member's name: `renamed to …`. */
  readonly why: string;
  readonly block: { readonly kind: BlockKind; readonly name: string; readonly module: string };
  /** Of the entry; undefined: the first line of the block. */
  readonly id: number | undefined;
  /** The lines as either would have it. */
  readonly ours: string;
  readonly theirs: string;
}
