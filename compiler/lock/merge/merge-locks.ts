/**
 * Merges two versions of a lock. Ids of the common base are kept, additions of both versions are kept, and tombstones
 * never vanish. A pure function.
 */
import { drawActorId } from "../actor-id.js";
import { emptyLock, type Lock, type LockBlock } from "../lock.js";
import { printBlockHead } from "../print.js";
import { mergeEntries } from "./merge-entries.js";
import type { LockConflict, MergedLocks, MovedId } from "./merge-result.js";
import { type BlockVersions, blockKey, pairBlocks } from "./pair-blocks.js";
import { type MergeVersions, pendingIn } from "./pair-members.js";
import { areInOtherNamespaces, PathAliases, plainPath } from "./path-aliases.js";

export interface LockVersions {
  /** The common ancestor of both versions; empty if there is none. */
  readonly base: Lock;
  readonly ours: Lock;
  readonly theirs: Lock;
  /** The published lock. If both versions have assigned the same id, the published one is kept. */
  readonly published?: Lock;
}

export function mergeLocks({ base, ours, theirs, published = emptyLock }: LockVersions): MergedLocks {
  const pairs = pairBlocks(base.blocks, ours.blocks, theirs.blocks);
  const publishedByKey = new Map(published.blocks.map((block) => [blockKey(block), block]));
  const actorIds = numberActors(pairs, published.blocks);
  const moved: MovedId[] = [];
  const conflicts: LockConflict[] = [];
  const blocks = pairs.map((versions, i) => {
    const known = publishedByKey.get(blockKey((versions.base ?? versions.ours ?? versions.theirs) as LockBlock));
    const merged = mergeBlock(versions, actorIds[i] as number, known);
    moved.push(...actorMoves(versions, merged.block), ...merged.moved);
    conflicts.push(...merged.conflicts);
    return merged.block;
  });
  const named = withMergedNames(pairs, blocks);
  const renamed = conflicts.map((conflict) => {
    return { ...conflict, block: named.get(conflict.block as LockBlock) as LockBlock };
  });
  // A breaking change that either branch has accepted stays accepted.
  const accepted = [...base.accepted, ...ours.accepted, ...theirs.accepted];
  return { lock: { blocks: [...named.values()], accepted }, moved, conflicts: renamed };
}

/**
 * Returns the blocks with their names after the merge. Until here, they have the names of the base: members in their
 * paths can have been renamed, and declarations can have moved to another namespace.
 */
function withMergedNames(
  pairs: readonly BlockVersions[],
  blocks: readonly LockBlock[],
): ReadonlyMap<LockBlock, LockBlock> {
  const aliases = new PathAliases();
  const order = blocks.map((block, i) => [block, pairs[i] as BlockVersions] as const);
  const names = new Map<LockBlock, string>();
  for (const [block, { base, ours, theirs }] of order.sort(([a], [b]) => a.name.length - b.name.length)) {
    const alias = plainPath(aliases.apply(block.name));
    // If one side has moved the declaration to another namespace, its name is used.
    const moved = [ours, theirs].find((side) => side !== undefined && areInOtherNamespaces(side.name, block.name));
    const name = alias === block.name && base !== undefined && moved !== undefined ? moved.name : alias;
    if (alias === block.name) aliases.add(block.name, name);
    names.set(block, name);
    if (base !== undefined) aliases.note(base, block, name);
  }
  return new Map(blocks.map((block) => [block, { ...block, name: names.get(block) as string }]));
}

function mergeBlock(versions: BlockVersions, id: number, published: LockBlock | undefined) {
  const { name, base, ours, theirs } = versions;
  const { kind } = (base ?? ours ?? theirs) as LockBlock;
  const { entries, next, moved, conflicts: found } = mergeEntries(versions, published);
  const module = moduleOf(versions);
  const block = {
    kind,
    name,
    module,
    retired: isRetired(versions),
    ...pendingIn(versions),
    id,
    next,
    entries,
    line: 0,
  };
  const conflicts: LockConflict[] = found.map((conflict) => ({ ...conflict, block }));
  const isTorn =
    ours && theirs && ours.module !== theirs.module && [ours, theirs].every((it) => it.module !== base?.module);
  if (isTorn) {
    const why = `moved to ${ours.module} on our side and to ${theirs.module} on theirs`;
    const [our, their] = [printBlockHead(block), printBlockHead({ ...block, module: theirs.module })];
    conflicts.push({ member: name, why, block, id: undefined, ours: our, theirs: their });
  }
  return { block, moved, conflicts };
}

function moduleOf({ base, ours, theirs }: MergeVersions<LockBlock>): string {
  if (ours === undefined || theirs === undefined) return ((ours ?? theirs ?? base) as LockBlock).module;
  return ours.module === base?.module ? theirs.module : ours.module;
}

/**
 * Returns whether the declaration is removed in the merge. A restored declaration finds all its ids, so a removal needs
 * no confirmation.
 */
function isRetired({ base, ours, theirs }: MergeVersions<LockBlock>): boolean {
  if (ours === undefined || theirs === undefined) return (ours ?? theirs)?.retired ?? true;
  if (ours.retired === theirs.retired) return ours.retired;
  return base === undefined ? false : !base.retired;
}

/**
 * Assigns the ids of actors. Ids of the base come first, then published ids, then ours. An actor whose id is taken gets
 * a new one.
 */
function numberActors(pairs: readonly MergeVersions<LockBlock>[], published: readonly LockBlock[]): readonly number[] {
  const ids = pairs.map(({ base }) => base?.id);
  const taken = new Set(ids);
  const claim = (wanted: (pair: MergeVersions<LockBlock>) => LockBlock | undefined) => {
    for (const [i, pair] of pairs.entries()) {
      const block = wanted(pair);
      if (ids[i] !== undefined || block === undefined) continue;
      if (block.kind === "actor" && taken.has(block.id)) continue;
      ids[i] = block.id;
      taken.add(block.id);
    }
  };
  const isPublished = (block: LockBlock) =>
    published.some((known) => known.id === block.id && blockKey(known) === blockKey(block));
  claim(({ ours, theirs }) => [ours, theirs].find((block) => block && isPublished(block)));
  claim(({ ours }) => ours);
  claim(({ theirs }) => theirs);
  return ids.map((id, i) => {
    if (id !== undefined) return id;
    const { ours, theirs } = pairs[i] as MergeVersions<LockBlock>;
    const drawn = drawActorId(blockKey((ours ?? theirs) as LockBlock), (candidate) => taken.has(candidate));
    taken.add(drawn);
    return drawn;
  });
}

function actorMoves({ ours, theirs }: MergeVersions<LockBlock>, { name, id }: LockBlock): readonly MovedId[] {
  return (["ours", "theirs"] as const).flatMap((side) => {
    const from = (side === "ours" ? ours : theirs)?.id;
    return from === undefined || from === id ? [] : [{ member: name, side, from, to: id, isActor: true }];
  });
}
