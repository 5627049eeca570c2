/**
 * The code store of a host: blobs, the manifests of trees, the folders into which trees are written, and the names of current trees. All
 * processes of a user on a machine can share one store.
 */
import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type TreeAddress, type TreeManifest, TreeManifestCodec } from "../../../generated/sync.js";
import { cacheDirectory } from "../../cache/private-files.js";
import { SyncError } from "../sync-error.js";
import { chunksOf } from "../tree/chunks.js";
import { type Digest, digestOf } from "../tree/digest.js";
import { chunksIn, chunksOfManifest, decodeManifest, type EncodedManifest } from "../tree/manifest.js";
import { BlobFiles } from "./blob-files.js";
import { thisOwner } from "./owner.js";
import { StoreFolder } from "./store-folder.js";
import { StoreRoom } from "./store-room.js";
import { TreeFiles } from "./tree-files.js";
import { type EarlierTree, isIntact, writeTree } from "./write-tree.js";

/** The default quota of a store: 32 GiB. */
export const DEFAULT_QUOTA = 32 * 2 ** 30;
/** Returns the folder of the store that all programs of a user on one machine share. */
export function defaultStoreFolder(): string {
  return path.join(cacheDirectory(), "code");
}

/** A mark that a tree is in use. */
export interface TreeUse {
  /** Ends the use. */
  end(): void;
}

export class CodeStoreFiles {
  readonly blobs: BlobFiles;
  readonly #folder: StoreFolder;
  readonly #trees: TreeFiles;
  readonly #room: StoreRoom;
  /** The tree that was written last, or found as it was written. */
  #latest: EarlierTree | undefined;
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
    this.#trees = new TreeFiles(this.#folder);
    this.blobs = new BlobFiles(this.#folder);
    this.#room = new StoreRoom(this.#folder, this.#trees, quota);
  }

  /**
   * Marks a tree as used by this process, so that it is not removed before the process ends the use or ends itself.
   *
   * @param id the tree, of which the store need not have anything yet
   */
  use(id: Digest): TreeUse {
    const mark = this.#folder.of("uses", `${id}@${thisOwner()}.${this.#uses++}`);
    this.#folder.attempt("mark a tree as used", () => writeFileSync(mark, "", { mode: 0o600 }));
    this.#trees.touch(id);
    return { end: () => rmSync(mark, { force: true }) };
  }

  /**
   * Stores a manifest that this process has made.
   *
   * @returns the digests of its chunks
   */
  addManifest({ id, bytes }: EncodedManifest): Digest[] {
    const digests = [...chunksOf(bytes)].map((chunk) => {
      const digest = digestOf(chunk);
      if (!this.blobs.has(digest)) this.blobs.putVerified(digest, chunk);
      return digest;
    });
    this.#trees.writeManifest(id, bytes);
    return digests;
  }

  /**
   * Returns a manifest of which the store has all chunks, or undefined.
   *
   * @throws {SyncError} if the manifest is refused
   */
  manifest(id: Digest, address: TreeAddress): TreeManifest | undefined {
    const known = this.#trees.manifest(id);
    if (known !== undefined) return known.manifest;
    const chunks: Uint8Array[] = [];
    for (const { digest } of chunksIn(address)) {
      const chunk = this.blobs.get(digest);
      if (chunk === undefined) return undefined;
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    const manifest = decodeManifest(bytes, id);
    this.#trees.writeManifest(id, bytes);
    return manifest;
  }

  /**
   * Writes a tree into a folder, unless it is there as it was written.
   *
   * @returns the absolute path of the folder
   * @throws {BlobMissingError} if a blob is missing, which must then be fetched again
   * @throws {SyncError} if the folder cannot be written
   */
  async write(id: Digest, manifest: TreeManifest): Promise<string> {
    const folders = this.#trees.folders(id);
    for (const folder of folders) if (await isIntact(folder, manifest)) return this.#written(folder, manifest);
    const [changed] = folders;
    const earlier = changed === undefined ? (this.#latest ?? this.#trees.latest(id)) : { folder: changed, manifest };
    const unfinished = this.#folder.unfinished();
    try {
      await writeTree(unfinished, manifest, this.blobs, earlier);
      const folder = this.#trees.place(id, unfinished);
      // Another process may have removed the manifest before this one has marked the tree as used.
      if (!existsSync(this.#trees.manifestFile(id))) {
        this.#trees.writeManifest(id, TreeManifestCodec.toProtobuf(manifest));
      }
      return this.#written(folder, manifest);
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

  /** Returns the chunks that the store lacks. */
  missing(chunks: Iterable<readonly [Digest, number]>): Map<Digest, number> {
    return new Map([...chunks].filter(([digest]) => !this.blobs.has(digest)));
  }

  /**
   * Returns the chunks that the store lacks, without a look at the files of the tree that this process has written last. If such a
   * file has been changed or removed since, `write` throws a {@link BlobMissingError}, and `missing` tells what has to be fetched.
   */
  missingBesideLatest(chunks: Iterable<readonly [Digest, number]>): Map<Digest, number> {
    if (this.#latest === undefined) return this.missing(chunks);
    const latest = chunksOfManifest(this.#latest.manifest);
    return this.missing([...chunks].filter(([digest]) => !latest.has(digest)));
  }

  /**
   * Makes room for a tree by removing what is not used.
   *
   * @param missing the chunks of its files that the store lacks, with their sizes
   * @throws {SyncError} if the tree does not fit beside what is in use
   */
  makeRoom(id: Digest, manifest: TreeManifest, missing: ReadonlyMap<Digest, number>): void {
    this.#room.make(id, manifest, missing);
  }

  /**
   * Removes trees and blobs that are not used until the store has at most this size.
   *
   * @returns the size of the store in bytes
   */
  collect(quota?: number): number {
    return this.#room.collect(quota);
  }

  #written(folder: string, manifest: TreeManifest): string {
    this.#latest = { folder, manifest };
    return folder;
  }
}
