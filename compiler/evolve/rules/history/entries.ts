/** The entries of two locks, brought together by the declaration and the id. */
import type { Lock, LockBlock, LockEntry } from "../../../lock/index.js";
import type { Position } from "../../../model/index.js";

export interface EntryPair {
  readonly block: LockBlock;
  readonly older: LockEntry;
  /** What the newer lock says of the id; undefined: nothing. */
  readonly newer: LockEntry | undefined;
}

/** Of blocks that both locks have. Ids of an enum of numbers are its values: the sources say what they are. */
export function entryPairs(older: Lock, newer: Lock): readonly EntryPair[] {
  return older.blocks.flatMap((was) => {
    const block = sameBlock(was, newer);
    if (block === undefined) return [];
    return was.entries
      .filter(({ id }) => id !== 0 || was.kind !== "actor")
      .map((entry) => ({ block, older: entry, newer: block.entries.find(({ id }) => id === entry.id) }));
  });
}

/** Also where the file has moved, if the name is that of one block alone. */
export function sameBlock({ kind, name, module }: LockBlock, lock: Lock): LockBlock | undefined {
  const same = lock.blocks.filter((block) => block.kind === kind && block.name === name);
  return same.find((block) => block.module === module) ?? (same.length === 1 ? same[0] : undefined);
}

export function positionIn(file: string, line: number): Position {
  return { file, line: Math.max(line, 1), column: 1 };
}
