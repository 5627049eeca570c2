/** The blocks and entries of two locks, brought together by the declaration and the id. */
import type { Lock, LockBlock, LockEntry } from "../lock/index.js";
import { pairBlocks } from "../lock/merge/pair-blocks.js";
import type { Position } from "../model/index.js";

export interface BlockPair {
  readonly older: LockBlock;
  /** The same block in the newer lock, also where its file has moved or a member on the way to it has been renamed. */
  readonly newer: LockBlock | undefined;
}

export interface EntryPair {
  readonly block: LockBlock;
  readonly older: LockEntry;
  /** What the newer lock says of the id; undefined: nothing. */
  readonly newer: LockEntry | undefined;
}

export function blockPairs(older: Lock, newer: Lock): readonly BlockPair[] {
  return pairBlocks(older.blocks, newer.blocks, []).flatMap(({ base, ours }) =>
    base === undefined ? [] : [{ older: base, newer: ours }],
  );
}

/** Of blocks that both locks have. Ids of an enum of numbers are its values: the sources say what they are. */
export function entryPairs(older: Lock, newer: Lock): readonly EntryPair[] {
  return blockPairs(older, newer).flatMap(({ older: was, newer: block }) => {
    if (block === undefined) return [];
    return was.entries.map((entry) => ({
      block,
      older: entry,
      newer: block.entries.find(({ id }) => id === entry.id),
    }));
  });
}

export function positionIn(file: string, line: number): Position {
  return { file, line: Math.max(line, 1), column: 1 };
}
