/**
 * `viceroy.lock`: the ids of everything that has an id on the wire, as plain data. The lock is append-only: an id is
 * never assigned twice, and a removed member stays as a tombstone. Each member has its own line, so that diffs are
 * readable. If two branches each add a member, git reports a conflict instead of accepting the same id twice.
 */

/**
 * The kinds of blocks. The block of an alias has one entry, `type`, with its target. Fields refer to the alias by name.
 * The block of a task has one entry, `run`, with its parameters and its result.
 */
export type BlockKind = "actor" | "task" | "message" | "oneof" | "union" | "enum" | "alias";

export interface Lock {
  readonly blocks: readonly LockBlock[];
  /** The breaking changes that the project has accepted. They are never removed. */
  readonly accepted: readonly AcceptedBreak[];
}

/** A breaking change in the words of `viceroy compile`. Another change of the same member has another text. */
export interface AcceptedBreak {
  /** The code of the rule: `VC5001`. */
  readonly code: string;
  /** The description, on one line: `Tree.age: its type was int32 and is int64: …`. */
  readonly text: string;
}

/**
 * The mark of a pending line, which was added while a breaking change waited to be accepted. The id is taken, but the
 * member is not part of the schema that the lock remembers.
 */
export interface Pending {
  readonly pending?: boolean | undefined;
}

/** The block of a declaration, or of an inline shape, whose name is its path: `Entry.meta`. */
export interface LockBlock extends Pending {
  readonly kind: BlockKind;
  readonly name: string;
  /** The schema file, without extension. If the file is gone, the block is found by its name. */
  readonly module: string;
  /** Whether the declaration has been removed. */
  readonly retired: boolean;
  /** The 32-bit id of an actor. 0 for all other declarations. */
  readonly id: number;
  /** The id of the next new member. */
  readonly next: number;
  readonly entries: readonly LockEntry[];
  /** The line of the block, from 1. 0 if the block was not read from a file. */
  readonly line: number;
}

/** The entry of a field, case, variant, value or endpoint. */
export interface LockEntry extends Pending {
  readonly id: number;
  readonly name: string;
  /** Whether the entry is a tombstone, whose id is taken forever. */
  readonly retired: boolean;
  /**
   * The type in the notation of the lock: `string`, `Tree[]?`. For an endpoint, the type of its result. Empty for an
   * enumeration value.
   */
  readonly type: string;
  /** The former names, oldest first. */
  readonly was: readonly string[];
  /** The parameters of an endpoint or a task. */
  readonly params?: LockParams;
  readonly line: number;
}

export interface LockParams {
  readonly next: number;
  readonly entries: readonly LockParam[];
}

export interface LockParam extends Pending {
  readonly id: number;
  readonly name: string;
  readonly retired: boolean;
  readonly type: string;
}

/** The entry of an actor's block that contains the constructor's arguments. */
export const constructorEntry = "new";

/** The entry of a task's block that contains its parameters and its result. */
export const taskEntry = "run";

/** The entry of an alias's block that contains the target of the alias. */
export const aliasEntry = "type";

/** The highest id of a field in protobuf. Protobuf reserves 19000 to 19999. */
export const maxId = 536_870_911;

export const emptyLock: Lock = { blocks: [], accepted: [] };
