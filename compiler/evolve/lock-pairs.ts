/** Pairs the blocks and entries of two locks by declaration and id. */
import type { Lock, LockBlock, LockEntry } from "../lock/index.js";
import { pairBlocks } from "../lock/merge/pair-blocks.js";
import type { Position } from "../model/index.js";

export interface BlockPair {
  readonly older: LockBlock;
  /** The same block in the newer lock, even if its file has moved or a member on the path to it was renamed. */
  readonly newer: LockBlock | undefined;
}

export interface EntryPair {
  readonly block: LockBlock;
  readonly older: LockEntry;
  /** The entry of the same id in the newer lock, or undefined if it has none. */
  readonly newer: LockEntry | undefined;
}

export function blockPairs(older: Lock, newer: Lock): readonly BlockPair[] {
  return pairBlocks(older.blocks, newer.blocks, []).flatMap(({ base, ours }) =>
    base === undefined ? [] : [{ older: base, newer: ours }],
  );
}

/** Pairs the entries of blocks that both locks have. */
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
