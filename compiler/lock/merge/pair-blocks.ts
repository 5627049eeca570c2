/** Which blocks of two branches, and of the lock that both come from, are the same one: by name, also from file to file. */
import type { LockBlock } from "../lock.js";
import type { Versions } from "./pair.js";

export function pairBlocks(
  base: readonly LockBlock[],
  ours: readonly LockBlock[],
  theirs: readonly LockBlock[],
): readonly Versions<LockBlock>[] {
  const [ourKnown, ourNew] = pairWithBase(base, ours);
  const [theirKnown, theirNew] = pairWithBase(base, theirs);
  const theirsByKey = new Map(theirNew.map((block) => [blockKey(block), block]));
  const pairs: Versions<LockBlock>[] = base.map((block) => versions(block, ourKnown.get(block), theirKnown.get(block)));
  for (const block of ourNew) {
    pairs.push(versions(undefined, block, theirsByKey.get(blockKey(block))));
    theirsByKey.delete(blockKey(block));
  }
  pairs.push(...[...theirsByKey.values()].map((block) => versions(undefined, undefined, block)));
  return pairs;
}

/** `message Entry in schemas/store`. */
export function blockKey({ kind, name, module }: Pick<LockBlock, "kind" | "name" | "module">): string {
  return `${kind} ${name} in ${module}`;
}

function pairWithBase(
  base: readonly LockBlock[],
  side: readonly LockBlock[],
): readonly [ReadonlyMap<LockBlock, LockBlock>, readonly LockBlock[]] {
  const found = new Map<LockBlock, LockBlock>();
  const left = new Map(side.map((block) => [blockKey(block), block]));
  const take = (block: LockBlock, key: string) => {
    const same = left.get(key);
    if (same === undefined) return;
    found.set(block, same);
    left.delete(key);
  };
  for (const block of base) take(block, blockKey(block));
  // A block that is not where it was has moved with its declaration, if there is just one that it can be.
  for (const block of base) {
    if (found.has(block)) continue;
    const moved = [...left.values()].filter(({ kind, name }) => kind === block.kind && name === block.name);
    if (moved.length === 1) take(block, blockKey(moved[0] as LockBlock));
  }
  return [found, [...left.values()]];
}

function versions(
  base: LockBlock | undefined,
  ours: LockBlock | undefined,
  theirs: LockBlock | undefined,
): Versions<LockBlock> {
  return {
    ...(base !== undefined && { base }),
    ...(ours !== undefined && { ours }),
    ...(theirs !== undefined && { theirs }),
  };
}
