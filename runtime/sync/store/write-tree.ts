/**
 * Writes a tree into a folder, and checks whether a folder still contains a tree. A new tree shares the modules that have not changed
 * with an earlier one. Other files are its own, because a program may write to them: that changes no other tree.
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
  type Stats,
  symlinkSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import type { TreeEntry, TreeManifest } from "../../../generated/sync.js";
import { Pace } from "../scan/pace.js";
import { SyncError } from "../sync-error.js";
import type { Digest } from "../tree/digest.js";
import { chunksIn, sizeOf } from "../tree/manifest.js";
import type { TreeBlobs } from "./blob-files.js";
import { copyFile, isAsWritten, linkFile, WRITTEN_AT } from "./written-file.js";

/** The files that trees share. Programs load them, and do not write to them as to a database or a log. */
const SHARED = /(?:^|\/)node_modules\/|\.(?:[cm]?[jt]sx?|node|wasm|map|py|so)$/;

/** A tree that was written before, from which another one takes what has not changed. */
export interface EarlierTree {
  readonly folder: string;
  readonly manifest: TreeManifest;
}

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
 * @param earlier the tree with which the new one shares files
 * @throws {BlobMissingError} if a blob is missing
 * @throws {SyncError} if two paths are the same file on this file system
 */
export async function writeTree(
  folder: string,
  { entries }: TreeManifest,
  blobs: TreeBlobs,
  earlier?: EarlierTree,
): Promise<void> {
  const pace = new Pace();
  const before = new Map(earlier?.manifest.entries.map((entry) => [entry.path, entry]));
  const takeFromEarlier = (entry: TreeEntry, file: string): boolean => {
    const { path: name, mode, digests } = entry;
    const other = before.get(name);
    if (other === undefined || other.mode !== mode) return false;
    if (Buffer.compare(other.digests, digests) !== 0) return false;
    const source = `${earlier!.folder}/${name}`;
    const isUnchanged = (stats: Stats | undefined) => stats !== undefined && isFileOf(stats, entry);
    return SHARED.test(name) ? linkFile(source, file, isUnchanged) : copyFile(source, file, isUnchanged);
  };
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
    if (pace.isDue) await pace.pause();
    makeFolderOf(entry.path);
    if (entry.link !== undefined) continue;
    const file = `${folder}/${entry.path}`;
    inTree(entry.path, () => {
      if (!takeFromEarlier(entry, file)) writeFile(file, entry, blobs);
    });
  }
  // Links come last, so that no file is ever written through one.
  for (const { path: name, link } of entries) {
    if (link !== undefined) inTree(name, () => symlinkSync(link, path.join(folder, name)));
  }
  chmodSync(folder, 0o755);
}

function writeFile(file: string, entry: TreeEntry, blobs: TreeBlobs): void {
  const chunks = chunksIn(entry);
  if (chunks.length === 1 && blobs.take(chunks[0]!, file, entry.mode as number)) return;
  const descriptor = openSync(file, "wx", 0o600);
  try {
    for (const { digest } of chunks) {
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
    if (pace.isDue) await pace.pause();
    const file = `${folder}/${entry.path}`;
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (entry.link !== undefined) {
      if (!stats.isSymbolicLink() || readlinkSync(file) !== entry.link) return false;
    } else if (!isFileOf(stats, entry)) return false;
  }
  return true;
}

/** Returns whether a file is the one that was written for an entry. */
function isFileOf(stats: Stats, entry: TreeEntry): boolean {
  return stats.isFile() && stats.size === sizeOf(entry) && isAsWritten(stats) && (stats.mode & 0o7777) === entry.mode;
}
