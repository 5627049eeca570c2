/** Pending members, whose ids were assigned while a breaking change waited to be accepted. Pure functions. */
import type { Lock, Pending } from "./lock.js";

/** Returns the lock without pending members, which is the published part. */
export function publishedLock(lock: Lock): Lock {
  if (!hasPending(lock)) return lock;
  const isPublished = ({ pending }: Pending) => !pending;
  const blocks = lock.blocks.filter(isPublished).map((block) => ({
    ...block,
    entries: block.entries.filter(isPublished).map((entry) => {
      if (entry.params === undefined) return entry;
      return { ...entry, params: { ...entry.params, entries: entry.params.entries.filter(isPublished) } };
    }),
  }));
  return { ...lock, blocks };
}

/** Returns the lock with its pending members published. */
export function withoutPending(lock: Lock): Lock {
  if (!hasPending(lock)) return lock;
  const blocks = lock.blocks.map((block) => ({
    ...published(block),
    entries: block.entries.map((entry) => {
      if (entry.params === undefined) return published(entry);
      return { ...published(entry), params: { ...entry.params, entries: entry.params.entries.map(published) } };
    }),
  }));
  return { ...lock, blocks };
}

function published<M extends Pending>(member: M): Omit<M, "pending"> {
  const { pending: _, ...rest } = member;
  return rest;
}

/** Returns whether the lock has pending lines. Tombstones are never pending, because their ids are taken forever. */
export function hasPending({ blocks }: Lock): boolean {
  const isPending = ({ pending, retired }: Pending & { readonly retired: boolean }) => pending === true && !retired;
  return blocks.some(
    (block) =>
      isPending(block) ||
      block.entries.some((entry) => isPending(entry) || (entry.params?.entries.some(isPending) ?? false)),
  );
}
