/** Decides what a store removes when it is fuller than its quota: what was not used for the longest time, never what is in use. */
import type { Digest } from "../tree/digest.js";

/** A tree of which the store has the manifest. */
export interface StoredTree {
  readonly id: Digest;
  /** The size of the folders in which the tree is written, in bytes. */
  readonly folderBytes: number;
  /** The time of the last use, in milliseconds of any one clock. */
  readonly usedAt: number;
  /** Whether a process uses the tree, or a name leads to it. */
  readonly isUsed: boolean;
  /** The blobs of the files and of the manifest. */
  readonly blobs: ReadonlySet<Digest>;
}

/** A blob in the store. */
export interface StoredBlob {
  readonly bytes: number;
  /** The time at which it was stored, by the clock of the trees. */
  readonly storedAt: number;
}

/** The trees and blobs that are removed. */
export interface Removal {
  readonly trees: readonly Digest[];
  readonly blobs: readonly Digest[];
  /** The number of bytes that stay. It is above the quota if more than the quota is in use. */
  readonly bytesKept: number;
}

/**
 * Plans the removal.
 *
 * @param quota the number of bytes that may stay
 * @param freshSince blobs that were stored later and belong to no tree are kept: their manifest may be on its way
 */
export function planRemoval(
  trees: readonly StoredTree[],
  blobs: ReadonlyMap<Digest, StoredBlob>,
  quota: number,
  freshSince: number,
): Removal {
  const users = new Map<Digest, number>();
  for (const tree of trees) for (const digest of tree.blobs) users.set(digest, (users.get(digest) ?? 0) + 1);
  let bytes = 0;
  for (const { bytes: size } of blobs.values()) bytes += size;
  for (const { folderBytes } of trees) bytes += folderBytes;
  const removed: { trees: Digest[]; blobs: Digest[] } = { trees: [], blobs: [] };
  const loose = [...blobs].filter(([digest, { storedAt }]) => !users.has(digest) && storedAt < freshSince);
  for (const [digest, blob] of loose.sort(([, left], [, right]) => left.storedAt - right.storedAt)) {
    if (bytes <= quota) break;
    removed.blobs.push(digest);
    bytes -= blob.bytes;
  }
  const unused = trees.filter(({ isUsed }) => !isUsed).sort((left, right) => left.usedAt - right.usedAt);
  for (const tree of unused) {
    if (bytes <= quota) break;
    removed.trees.push(tree.id);
    bytes -= tree.folderBytes;
    for (const digest of tree.blobs) {
      const left = (users.get(digest) ?? 1) - 1;
      users.set(digest, left);
      const blob = blobs.get(digest);
      if (left > 0 || blob === undefined) continue;
      removed.blobs.push(digest);
      bytes -= blob.bytes;
    }
  }
  return { ...removed, bytesKept: bytes };
}
