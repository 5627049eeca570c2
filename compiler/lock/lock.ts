/**
 * `viceroy.lock`: the ids of everything that has one on the wire, as plain data. Append-only: an id that was given once is
 * never given again, what is removed stays as a tombstone. One line per member, so that a diff can be reviewed and two
 * branches that both add a member conflict in git instead of taking the same id in silence.
 */

/** An alias has one entry, `type`, with what it stands for: fields that use it have its name alone. */
export type BlockKind = "actor" | "message" | "oneof" | "union" | "enum" | "alias";

export interface Lock {
  readonly blocks: readonly LockBlock[];
  /** Breaking changes that the project has agreed to. They are never removed. */
  readonly accepted: readonly AcceptedBreak[];
}

/** A breaking change as `viceroy compile` reported it. Another change of the same member has another text. */
export interface AcceptedBreak {
  /** `VC5001`. */
  readonly code: string;
  /** On one line: `Tree.age: its type was int32 and is int64: …`. */
  readonly text: string;
}

/**
 * Ids that have been given, and nothing more: the line was added beside a breaking change that nobody has accepted yet. The
 * id is taken, and the member is no part of the schema that the lock remembers.
 */
export interface Pending {
  readonly pending?: boolean | undefined;
}

/** A declaration, or a shape written in place, which is known by its path: `Entry.meta`. */
export interface LockBlock extends Pending {
  readonly kind: BlockKind;
  readonly name: string;
  /** The schema file, without extension. A block whose file is gone follows its name. */
  readonly module: string;
  /** The declaration is gone. */
  readonly retired: boolean;
  /** Of an actor: 32 bits. 0 for all others. */
  readonly id: number;
  /** The id that the next new member gets. */
  readonly next: number;
  readonly entries: readonly LockEntry[];
  /** Where it stands, 1-based; 0 when it was not read from a file. */
  readonly line: number;
}

/** A field, case, variant, value or endpoint. */
export interface LockEntry extends Pending {
  readonly id: number;
  readonly name: string;
  /** A tombstone: the id is taken for ever. */
  readonly retired: boolean;
  /** The type as the lock writes it: `string`, `Tree[]?`; an endpoint's result; empty for an enum's value. */
  readonly type: string;
  /** Earlier names, oldest first. */
  readonly was: readonly string[];
  /** Of an endpoint. */
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

/** The entry of an actor's block that holds the constructor's arguments. */
export const constructorEntry = "new";

/** The entry of an alias's block that holds what it stands for. */
export const aliasEntry = "type";

/** Ids that a field can have in protobuf. 19000 to 19999 are reserved there. */
export const maxId = 536_870_911;

export const emptyLock: Lock = { blocks: [], accepted: [] };
