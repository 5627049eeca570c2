/**
 * Writes a tree into a folder, and checks whether a folder still contains a tree. Files are copies of the blobs: a program that
 * writes to a file of its tree changes neither the store nor other trees.
 */
import {
  chmodSync,
  closeSync,
  fchmodSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import type { TreeEntry, TreeManifest } from "../../../generated/sync.js";
import { Pace } from "../scan/pace.js";
import { SyncError } from "../sync-error.js";
import type { Digest } from "../tree/digest.js";
import { chunksIn, sizeOf } from "../tree/manifest.js";
import type { BlobSource } from "./blob-files.js";

/** The time of all files of a tree, by which a file is recognised that a program has written since. 1 January 2020. */
const WRITTEN_AT = 1_577_836_800;

/** Thrown by {@link writeTree} when the store lacks a blob. */
export class BlobMissingError extends SyncError {
  override readonly name: string = "BlobMissingError";
  /** The digest of the blob. */
  readonly digest: Digest;

  constructor(digest: Digest, path: string) {
    super("blob-missing", `cannot write ${path}: the store lacks its blob ${digest.slice(0, 12)}`, { path });
    this.digest = digest;
  }
}

/**
 * Writes a tree into a new folder. The manifest must have been checked.
 *
 * @param folder the absolute path of the folder, which must not exist
 * @throws {BlobMissingError} if a blob is missing
 * @throws {SyncError} if two paths are the same file on this file system
 */
export async function writeTree(folder: string, { entries }: TreeManifest, blobs: BlobSource): Promise<void> {
  const pace = new Pace();
  mkdirSync(folder, { mode: 0o700 });
  const made = new Set<string>([""]);
  const makeFolderOf = (name: string): void => {
    const parent = name.slice(0, Math.max(name.lastIndexOf("/"), 0));
    if (made.has(parent)) return;
    makeFolderOf(parent);
    inTree(parent, () => mkdirSync(path.join(folder, parent), { mode: 0o755 }));
    made.add(parent);
  };
  for (const entry of entries) {
    await pace.pause();
    makeFolderOf(entry.path);
    if (entry.link === undefined) inTree(entry.path, () => writeFile(path.join(folder, entry.path), entry, blobs));
  }
  // Links come last, so that no file is ever written through one.
  for (const { path: name, link } of entries) {
    if (link !== undefined) inTree(name, () => symlinkSync(link, path.join(folder, name)));
  }
  chmodSync(folder, 0o755);
}

function writeFile(file: string, entry: TreeEntry, blobs: BlobSource): void {
  const descriptor = openSync(file, "wx", 0o600);
  try {
    for (const { digest } of chunksIn(entry)) {
      const bytes = blobs.get(digest);
      if (bytes === undefined) throw new BlobMissingError(digest, entry.path);
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    }
    fchmodSync(descriptor, entry.mode as number);
    futimesSync(descriptor, WRITTEN_AT, WRITTEN_AT);
  } finally {
    closeSync(descriptor);
  }
}

/** Explains that a path exists already: file systems that ignore the case of letters have fewer names than manifests. */
function inTree(name: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new SyncError(
      "store-failed",
      `cannot write ${name}: another path of the tree is the same file here; rename one of them, so that they differ in more than ` +
        "the case of letters",
      { path: name, cause },
    );
  }
}

/** Returns whether a folder contains a tree as it was written. Files that a program has added do not matter. */
export async function isIntact(folder: string, { entries }: TreeManifest): Promise<boolean> {
  const pace = new Pace();
  for (const entry of entries) {
    await pace.pause();
    const file = path.join(folder, entry.path);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (entry.link !== undefined) {
      if (!stats.isSymbolicLink() || readlinkSync(file) !== entry.link) return false;
    } else if (
      !stats.isFile() ||
      stats.size !== sizeOf(entry) ||
      stats.mtimeMs !== WRITTEN_AT * 1000 ||
      (stats.mode & 0o7777) !== entry.mode
    ) {
      return false;
    }
  }
  return true;
}
