/**
 * Pairs the blocks of two branches with those of their common base. Blocks are paired by name, even if they have moved
 * to another file, or a member in their path has been renamed.
 */
import type { LockBlock } from "../lock.js";
import type { MergeVersions } from "./pair-members.js";
import { namesInBase } from "./path-aliases.js";

export interface BlockVersions extends MergeVersions<LockBlock> {
  /** The name of the block in the base, or the name that it would have there. */
  readonly name: string;
}

export function pairBlocks(
  base: readonly LockBlock[],
  ours: readonly LockBlock[],
  theirs: readonly LockBlock[],
): readonly BlockVersions[] {
  const ourSide = new SideBlocks(base, ours);
  const theirSide = new SideBlocks(base, theirs);
  const pairs: BlockVersions[] = base.map((block) => {
    return { name: block.name, base: block, ours: ourSide.known.get(block), theirs: theirSide.known.get(block) };
  });
  const theirsByKey = new Map(theirSide.rest.map((block) => [theirSide.keyOf(block), block]));
  for (const block of ourSide.rest) {
    const key = ourSide.keyOf(block);
    pairs.push({ name: ourSide.nameOf(block), base: undefined, ours: block, theirs: theirsByKey.get(key) });
    theirsByKey.delete(key);
  }
  for (const block of theirsByKey.values()) {
    pairs.push({ name: theirSide.nameOf(block), base: undefined, ours: undefined, theirs: block });
  }
  return pairs;
}

/** Returns the key of a block: `message Entry in schemas/store`. */
export function blockKey({ kind, name, module }: Pick<LockBlock, "kind" | "name" | "module">): string {
  return `${kind} ${name} in ${module}`;
}

class SideBlocks {
  /** The blocks, by the blocks of the base that they continue. */
  readonly known = new Map<LockBlock, LockBlock>();
  /** The new blocks. */
  readonly rest: readonly LockBlock[];
  readonly #names: ReadonlyMap<LockBlock, string>;

  constructor(base: readonly LockBlock[], side: readonly LockBlock[]) {
    this.#names = namesInBase(base, side);
    const left = new Map(side.map((block) => [this.keyOf(block), block]));
    const take = (block: LockBlock, key: string) => {
      const same = left.get(key);
      if (same === undefined) return;
      this.known.set(block, same);
      left.delete(key);
    };
    for (const block of base) take(block, blockKey(block));
    // A block that is missing from its file has moved with its declaration if there is exactly one candidate.
    for (const block of base) {
      if (this.known.has(block)) continue;
      const moved = [...left].filter(([, it]) => it.kind === block.kind && this.nameOf(it) === block.name);
      if (moved.length === 1) take(block, (moved[0] as [string, LockBlock])[0]);
    }
    this.rest = [...left.values()];
  }

  nameOf(block: LockBlock): string {
    return this.#names.get(block) ?? block.name;
  }

  keyOf(block: LockBlock): string {
    return blockKey({ ...block, name: this.nameOf(block) });
  }
}
