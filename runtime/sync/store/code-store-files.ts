/**
 * The code store of a host: blobs, the manifests of trees, the folders into which trees are written, and the names of current trees. All
 * processes of a user on a machine can share one store.
 */
import {
  appendFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { type TreeAddress, type TreeManifest, TreeManifestCodec } from "../../../generated/sync.js";
import { cacheDirectory } from "../../cache/private-files.js";
import { showBytes } from "../scan/scan-limits.js";
import { SyncError } from "../sync-error.js";
import { chunksOf } from "../tree/chunks.js";
import { type Digest, digestOf } from "../tree/digest.js";
import { chunksIn, chunksOfManifest, decodeManifest, type EncodedManifest, sizeOf } from "../tree/manifest.js";
import { BlobFiles } from "./blob-files.js";
import { hasEnded, thisOwner } from "./owner.js";
import { planRemoval, type StoredBlob, type StoredTree } from "./plan-removal.js";
import { StoreFolder } from "./store-folder.js";
import { isIntact, writeTree } from "./write-tree.js";

/** The default quota of a store: 32 GiB. */
export const DEFAULT_QUOTA = 32 * 2 ** 30;
/** Returns the folder of the store that all programs of a user on one machine share. */
export function defaultStoreFolder(): string {
  return path.join(cacheDirectory(), "code");
}

/** The time in milliseconds for which a blob without a manifest stays. */
const FRESH_MS = 10 * 60_000;

/** A mark that a tree is in use. */
export interface TreeUse {
  /** Ends the use. */
  end(): void;
}

export class CodeStoreFiles {
  readonly blobs: BlobFiles;
  readonly #folder: StoreFolder;
  readonly #quota: number;
  #uses = 0;

  /**
   * Opens a store.
   *
   * @param folder the absolute path, which is made if it does not exist
   * @param quota the size in bytes above which unused trees are removed
   * @throws {SyncError} if the folder cannot be used
   */
  constructor(folder: string, quota: number = DEFAULT_QUOTA) {
    this.#folder = new StoreFolder(folder);
    this.#quota = quota;
    this.blobs = new BlobFiles(this.#folder);
  }

  /**
   * Marks a tree as used by this process, so that it is not removed before the process ends the use or ends itself.
   *
   * @param id the tree, of which the store need not have anything yet
   */
  use(id: Digest): TreeUse {
    const mark = this.#folder.of("uses", `${id}@${thisOwner()}.${this.#uses++}`);
    this.#folder.attempt("mark a tree as used", () => writeFileSync(mark, "", { mode: 0o600 }));
    this.#touch(id);
    return { end: () => rmSync(mark, { force: true }) };
  }

  /** Stores the chunks of a manifest that this process has made. */
  addManifest({ id, bytes }: EncodedManifest): void {
    for (const chunk of chunksOf(bytes)) {
      const digest = digestOf(chunk);
      if (!this.blobs.has(digest)) this.blobs.put(digest, chunk);
    }
    this.#writeManifest(id, bytes);
  }

  /**
   * Returns a manifest of which the store has all chunks, or undefined.
   *
   * @throws {SyncError} if the manifest is refused
   */
  manifest(id: Digest, address: TreeAddress): TreeManifest | undefined {
    const known = this.#manifest(id);
    if (known !== undefined) return known.manifest;
    const chunks: Uint8Array[] = [];
    for (const { digest } of chunksIn(address)) {
      const chunk = this.blobs.get(digest);
      if (chunk === undefined) return undefined;
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    const manifest = decodeManifest(bytes, id);
    this.#writeManifest(id, bytes);
    return manifest;
  }

  /**
   * Makes room for a tree by removing what is not used.
   *
   * @throws {SyncError} if the tree does not fit beside what is in use
   */
  makeRoom(id: Digest, manifest: TreeManifest): void {
    let needed = manifest.entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
    for (const [digest, size] of chunksOfManifest(manifest)) if (!this.blobs.has(digest)) needed += size;
    if (this.#trees(id).length > 0) return;
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
   * Writes a tree into a folder, unless it is there as it was written.
   *
   * @returns the absolute path of the folder
   * @throws {BlobMissingError} if a blob is missing, which must then be fetched again
   * @throws {SyncError} if the folder cannot be written
   */
  async write(id: Digest, manifest: TreeManifest): Promise<string> {
    for (const name of this.#trees(id)) {
      const folder = this.#folder.of("trees", name);
      if (await isIntact(folder, manifest)) return folder;
    }
    const unfinished = this.#folder.unfinished();
    try {
      await writeTree(unfinished, manifest, this.blobs);
      const folder = this.#place(id, unfinished);
      // Another process may have removed the manifest before this one has marked the tree as used.
      if (!existsSync(this.#folder.of("manifests", id)))
        this.#writeManifest(id, TreeManifestCodec.toProtobuf(manifest));
      return folder;
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      throw this.#folder.failure(`write tree ${id.slice(0, 12)}`, error);
    }
  }

  /**
   * Lets a name lead to a folder that `write` has returned. Whoever opens the name finds the earlier tree or this one.
   *
   * @param name letters, digits, "_", "-" and ".", at most 100
   * @returns the path of the name
   */
  activate(name: string, folder: string): string {
    if (!/^[\w-][\w.-]{0,99}$/.test(name)) {
      throw new SyncError(
        "store-failed",
        `cannot activate a tree: expected a name of at most 100 letters, digits, "_", "-" and ".", got ${JSON.stringify(name)}`,
      );
    }
    const link = this.#folder.of("current", name);
    this.#folder.attempt("activate a tree", () => {
      const unfinished = this.#folder.unfinished();
      symlinkSync(path.join("..", "trees", path.basename(folder)), unfinished);
      renameSync(unfinished, link);
    });
    return link;
  }

  /** Lets a name lead to nothing. Its tree stays until the store needs the room. */
  deactivate(name: string): void {
    rmSync(this.#folder.of("current", path.basename(name)), { force: true });
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
    const moved = this.#trees(id).map((name) => ({
      folder: this.#folder.of("trees", name),
      to: this.#folder.unfinished(),
    }));
    for (const { folder, to } of moved) moveIfThere(folder, to);
    // Whoever marks the tree as used from now on does not find its folders. Whoever has done it before may have found them.
    if (this.#usedTrees().has(id)) {
      for (const { folder, to } of moved) moveIfThere(to, folder);
    } else rmSync(this.#folder.of("manifests", id), { force: true });
    for (const { to } of moved) rmSync(to, { recursive: true, force: true });
  }

  /** Renames a finished folder to the first free name of its tree. */
  #place(id: Digest, unfinished: string): string {
    for (let version = 0; ; version++) {
      const folder = this.#folder.of("trees", version === 0 ? id : `${id}.${version}`);
      // An earlier folder that a program has changed stays, as its processes use it.
      if (existsSync(folder)) continue;
      try {
        renameSync(unfinished, folder);
        return folder;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
      }
    }
  }

  /** Returns the names of the folders of a tree, the newest first. */
  #trees(id: Digest): string[] {
    const versionOf = (name: string): number => Number(name.slice(id.length + 1) || 0);
    const names = this.#folder.names("trees").filter((name) => name === id || name.startsWith(`${id}.`));
    return names.sort((left, right) => versionOf(right) - versionOf(left));
  }

  #writeManifest(id: Digest, bytes: Uint8Array): void {
    this.#folder.attempt("store a manifest", () => this.#folder.write(this.#folder.of("manifests", id), bytes, 0o600));
  }

  #manifest(id: Digest): { readonly manifest: TreeManifest; readonly bytes: Uint8Array } | undefined {
    try {
      const bytes = readFileSync(this.#folder.of("manifests", id));
      return { manifest: decodeManifest(bytes, id), bytes };
    } catch {
      // There is none, or it is damaged and made again of its chunks.
      return undefined;
    }
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
    const ids = new Set([
      ...this.#folder.names("manifests"),
      ...this.#folder.names("trees").map((name) => name.slice(0, 64)),
    ]);
    for (const id of ids) {
      // Another process can remove the manifest meanwhile, so it is read once.
      const stored = this.#manifest(id);
      // A tree without a manifest is left over from a removal, and the first to go.
      const stats = lstatSync(this.#folder.of("manifests", id), { throwIfNoEntry: false });
      const folders = this.#trees(id).length;
      const bytes = stored?.manifest.entries.reduce((sum, entry) => sum + sizeOf(entry), 0) ?? 0;
      const blobs = new Set<Digest>();
      if (stored !== undefined) {
        for (const digest of chunksOfManifest(stored.manifest).keys()) blobs.add(digest);
        for (const chunk of chunksOf(stored.bytes)) blobs.add(digestOf(chunk));
      }
      trees.push({ id, folderBytes: folders * bytes, usedAt: stats?.mtimeMs ?? 0, isUsed: used.has(id), blobs });
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

  #touch(id: Digest): void {
    const now = new Date();
    try {
      utimesSync(this.#folder.of("manifests", id), now, now);
    } catch {
      // The manifest is not there yet.
    }
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
