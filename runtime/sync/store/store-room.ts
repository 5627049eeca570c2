/** The room in a store: makes room for a tree that arrives, and removes trees and blobs that nothing uses. */
import { appendFileSync, lstatSync, readFileSync, readlinkSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import type { TreeManifest } from "../../../generated/sync.js";
import { showBytes } from "../scan/scan-limits.js";
import { SyncError } from "../sync-error.js";
import { chunksOf } from "../tree/chunks.js";
import { type Digest, digestOf } from "../tree/digest.js";
import { chunksOfManifest, sizeOf } from "../tree/manifest.js";
import { hasEnded } from "./owner.js";
import { planRemoval, type StoredBlob, type StoredTree } from "./plan-removal.js";
import type { StoreFolder } from "./store-folder.js";
import type { TreeFiles } from "./tree-files.js";

/** The time in milliseconds for which a blob without a manifest stays. */
const FRESH_MS = 10 * 60_000;

export class StoreRoom {
  readonly #folder: StoreFolder;
  readonly #trees: TreeFiles;
  readonly #quota: number;

  /** @param quota the size in bytes above which unused trees are removed */
  constructor(folder: StoreFolder, trees: TreeFiles, quota: number) {
    this.#folder = folder;
    this.#trees = trees;
    this.#quota = quota;
  }

  /**
   * Makes room for a tree by removing what is not used.
   *
   * @param missing the chunks of its files that the store lacks, with their sizes
   * @throws {SyncError} if the tree does not fit beside what is in use
   */
  make(id: Digest, manifest: TreeManifest, missing: ReadonlyMap<Digest, number>): void {
    let needed = manifest.entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
    for (const size of missing.values()) needed += size;
    if (this.#trees.folders(id).length > 0) return;
    if (this.#sizeBound() + needed <= this.#quota) {
      this.#folder.attempt("store a tree", () => appendFileSync(this.#sizes(), `${needed}\n`, { mode: 0o600 }));
      return;
    }
    const kept = this.collect(this.#quota - needed);
    if (kept + needed <= this.#quota) return;
    throw new SyncError(
      "store-failed",
      `cannot store tree ${id.slice(0, 12)}: it needs ${showBytes(needed)}, and ${showBytes(kept)} of the quota of ` +
        `${showBytes(this.#quota)} are in use; end programs that use older trees, or raise the quota, got ${this.#folder.path}`,
      { path: this.#folder.path },
    );
  }

  /**
   * Removes trees and blobs that are not used until the store has at most this size.
   *
   * @returns the size of the store in bytes
   */
  collect(quota: number = this.#quota): number {
    return this.#folder.attempt("remove unused trees", () => {
      const trees = this.#storedTrees();
      const blobs = this.#storedBlobs();
      const plan = planRemoval(trees, blobs, quota, Date.now() - FRESH_MS);
      for (const id of plan.trees) this.#removeTree(id);
      const used = this.#usedTrees();
      const isKept = new Set(
        trees.filter(({ id }) => used.has(id) && plan.trees.includes(id)).flatMap((tree) => [...tree.blobs]),
      );
      for (const digest of plan.blobs) {
        if (!isKept.has(digest)) rmSync(this.#folder.of("blobs", digest.slice(0, 2), digest), { force: true });
      }
      this.#folder.write(this.#sizes(), Buffer.from(`${plan.bytesKept}\n`), 0o600);
      return plan.bytesKept;
    });
  }

  /** The file with the size of the store after the last removal, and what has been added since. */
  #sizes(): string {
    return path.join(this.#folder.path, "sizes");
  }

  /** Returns a size that the store does not exceed. It spares most syncs a look at all files of the store. */
  #sizeBound(): number {
    try {
      const lines = readFileSync(this.#sizes(), "utf8").trim().split("\n");
      return lines.length > 1_000 ? Number.POSITIVE_INFINITY : lines.reduce((sum, line) => sum + Number(line), 0);
    } catch {
      return this.#folder.names("manifests").length === 0 ? 0 : Number.POSITIVE_INFINITY;
    }
  }

  /** Removes a tree, unless a process has begun to use it meanwhile. */
  #removeTree(id: Digest): void {
    if (this.#usedTrees().has(id)) return;
    const moved = this.#trees.folders(id).map((folder) => ({ folder, to: this.#folder.unfinished() }));
    for (const { folder, to } of moved) moveIfThere(folder, to);
    // Whoever marks the tree as used from now on does not find its folders. Whoever has done it before may have found them.
    if (this.#usedTrees().has(id)) {
      for (const { folder, to } of moved) moveIfThere(to, folder);
    } else rmSync(this.#trees.manifestFile(id), { force: true });
    for (const { to } of moved) rmSync(to, { recursive: true, force: true });
  }

  /** Returns the trees to which a name leads, or which a running process uses. Marks of ended processes are removed. */
  #usedTrees(): Set<Digest> {
    const used = new Set<Digest>();
    for (const name of this.#folder.names("uses")) {
      const [id = "", owner = ""] = name.split("@");
      if (hasEnded(owner)) rmSync(this.#folder.of("uses", name), { force: true });
      else used.add(id);
    }
    for (const name of this.#folder.names("current")) {
      try {
        used.add(path.basename(readlinkSync(this.#folder.of("current", name))).slice(0, 64));
      } catch {
        // It was removed meanwhile.
      }
    }
    return used;
  }

  #storedTrees(): StoredTree[] {
    const used = this.#usedTrees();
    const trees: StoredTree[] = [];
    for (const id of this.#trees.ids()) {
      // Another process can remove the manifest meanwhile, so it is read once.
      const stored = this.#trees.manifest(id);
      // A tree without a manifest is left over from a removal, and the first to go.
      const usedAt = this.#trees.usedAt(id);
      const folders = this.#trees.folders(id).length;
      const bytes = stored?.manifest.entries.reduce((sum, entry) => sum + sizeOf(entry), 0) ?? 0;
      const blobs = new Set<Digest>();
      if (stored !== undefined) {
        for (const digest of chunksOfManifest(stored.manifest).keys()) blobs.add(digest);
        for (const chunk of chunksOf(stored.bytes)) blobs.add(digestOf(chunk));
      }
      trees.push({ id, folderBytes: folders * bytes, usedAt, isUsed: used.has(id), blobs });
    }
    return trees;
  }

  #storedBlobs(): Map<Digest, StoredBlob> {
    const blobs = new Map<Digest, StoredBlob>();
    for (const prefix of this.#folder.names("blobs")) {
      for (const digest of this.#folder.names("blobs", prefix)) {
        const stats = lstatSync(this.#folder.of("blobs", prefix, digest), { throwIfNoEntry: false });
        if (stats !== undefined) blobs.set(digest, { bytes: stats.size, storedAt: stats.mtimeMs });
      }
    }
    return blobs;
  }
}

/** Renames a folder, unless it is not there or the other name is taken. */
function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}
