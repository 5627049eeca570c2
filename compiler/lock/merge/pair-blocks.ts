/**
 * Which blocks of two branches, and of the lock that both come from, are the same one: by name, also from file to file, and
 * when a member that stands in the name has been renamed.
 */
import type { LockBlock } from "../lock.js";
import type { MergeVersions } from "./pair-members.js";
import { namesInBase } from "./path-aliases.js";

export interface BlockVersions extends MergeVersions<LockBlock> {
  /** What it is called in the base, or would be. */
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

/** `message Entry in schemas/store`. */
export function blockKey({ kind, name, module }: Pick<LockBlock, "kind" | "name" | "module">): string {
  return `${kind} ${name} in ${module}`;
}

class SideBlocks {
  /** By the blocks of the base that they continue. */
  readonly known = new Map<LockBlock, LockBlock>();
  /** New ones. */
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
    // A block that is not where it was has moved with its declaration, if there is just one that it can be.
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
