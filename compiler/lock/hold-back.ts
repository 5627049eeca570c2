/**
 * Computes the lock while a breaking change waits to be accepted. The published lines stay unchanged, and new members
 * are added as pending, so that their ids are taken. Pure functions.
 */
import type { Lock, LockBlock, LockEntry, LockParams, Pending } from "./lock.js";
import { pairBlocks } from "./merge/pair-blocks.js";

/**
 * @param lock the lock on disk
 * @param next the lock that the schemas require, which continues `lock`
 */
export function holdBack(lock: Lock, next: Lock): Lock {
  const blocks = pairBlocks(lock.blocks, next.blocks, []).flatMap(({ base, ours }) => {
    if (base === undefined || ours === undefined) return [base ?? pendingBlock(ours as LockBlock)];
    return [base.pending ? pendingBlock(ours) : heldBlock(base, ours)];
  });
  return { blocks, accepted: next.accepted };
}

function pendingBlock(block: LockBlock): LockBlock {
  return { ...block, pending: true };
}

function heldBlock(base: LockBlock, now: LockBlock): LockBlock {
  const entries = heldMembers(base.entries, now.entries, (entry, after): LockEntry => {
    if (entry.params === undefined || after.params === undefined) return entry;
    return { ...entry, params: heldParams(entry.params, after.params) };
  });
  return { ...base, next: Math.max(base.next, now.next), entries };
}

function heldParams(base: LockParams, now: LockParams): LockParams {
  return {
    next: Math.max(base.next, now.next),
    entries: heldMembers(base.entries, now.entries, (param) => param),
  };
}

/** Returns the published members without changes, followed by all other members. */
function heldMembers<M extends Pending & { readonly id: number }>(
  base: readonly M[],
  now: readonly M[],
  hold: (before: M, after: M) => M,
): readonly M[] {
  const after = new Map(now.map((member) => [member.id, member]));
  const published = new Set(base.filter(({ pending }) => !pending).map(({ id }) => id));
  return [
    ...base
      .filter(({ id }) => published.has(id))
      .map((member) => {
        const same = after.get(member.id);
        return same === undefined ? member : hold(member, same);
      }),
    ...now.filter(({ id }) => !published.has(id)).map((member) => ({ ...member, pending: true })),
  ];
}
