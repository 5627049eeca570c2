/**
 * The blobs of a store, each a file that is named by the digest of its content. A blob is verified before it is stored, and again
 * before it is used: the machine may have lost power since. A file of the tree that has used a blob first is the same file as the blob.
 * If a program writes into it, the store has lost the blob.
 */
import { chmodSync, lstatSync, mkdirSync, readFileSync, utimesSync } from "node:fs";
import { SyncError } from "../sync-error.js";
import { type Digest, digestOf } from "../tree/digest.js";
import type { Chunk } from "../tree/manifest.js";
import { RecentBlobs } from "./recent-blobs.js";
import type { StoreFolder } from "./store-folder.js";
import { isAsWritten, linkFile, WRITTEN_AT } from "./written-file.js";

/** A source of blobs: a store of files, or the memory of a test. */
export interface BlobSource {
  /** Returns whether the blob is there. */
  has(digest: Digest): boolean;
  /** Returns a blob whose content is what its digest says, or undefined. */
  get(digest: Digest): Uint8Array | undefined;
}

/** The blobs of which trees are written. */
export type TreeBlobs = Pick<BlobFiles, "get" | "take">;

/** A place that takes blobs. */
export interface BlobSink extends BlobSource {
  /**
   * Stores a blob.
   *
   * @throws {SyncError} if the bytes do not have the digest, or if the store cannot be written
   */
  put(digest: Digest, bytes: Uint8Array): void;
}

/** The mode of a blob that no tree has used. */
const NEW_MODE = 0o400;

export class BlobFiles implements BlobSink {
  readonly #folder: StoreFolder;
  readonly #made = new Set<string>();
  /** The blobs that this process has verified and stored, and that no tree has used. */
  readonly #verified = new Set<Digest>();
  readonly #recent = new RecentBlobs();

  constructor(folder: StoreFolder) {
    this.#folder = folder;
  }

  has(digest: Digest): boolean {
    const stats = lstatSync(this.#file(digest), { throwIfNoEntry: false });
    if (stats === undefined) return false;
    // A tree that has taken the blob has given it another mode, and a program may have written into it since.
    return (stats.nlink === 1 && (stats.mode & 0o777) === NEW_MODE) || isAsWritten(stats);
  }

  get(digest: Digest): Uint8Array | undefined {
    return this.#recent.get(digest) ?? this.#read(digest);
  }

  /** Returns a blob as it is on the disk, or undefined. */
  #read(digest: Digest): Uint8Array | undefined {
    const file = this.#file(digest);
    let bytes: Uint8Array;
    try {
      bytes = readFileSync(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw this.#folder.failure("read a blob", error);
    }
    if (digestOf(bytes) === digest) return bytes;
    // It will be fetched again.
    this.#folder.remove(file);
    return undefined;
  }

  /** Stores a blob that another host has sent. The bytes must not change afterwards. */
  put(digest: Digest, bytes: Uint8Array): void {
    const actual = digestOf(bytes);
    if (actual !== digest) throw wrongBytes(digest, actual);
    this.putVerified(digest, bytes);
    this.#recent.add(digest, bytes);
  }

  /**
   * Stores bytes whose digest the caller has computed.
   *
   * @throws {SyncError} if the store cannot be written
   */
  putVerified(digest: Digest, bytes: Uint8Array): void {
    const file = this.#file(digest);
    this.#folder.attempt("store a blob", () => {
      const prefix = digest.slice(0, 2);
      if (!this.#made.has(prefix)) mkdirSync(this.#folder.of("blobs", prefix), { recursive: true, mode: 0o700 });
      this.#made.add(prefix);
      this.#folder.write(file, bytes, NEW_MODE);
    });
    this.#verified.add(digest);
  }

  /** Frees the memory of the blobs that were stored last. They stay in the store. */
  forgetRecent(): void {
    this.#recent.clear();
  }

  /**
   * Makes a file of a tree from a blob without copying it, if the blob is not a file of a tree yet.
   *
   * @param file the path of the file, which must not exist
   * @returns whether the file has been made
   */
  take({ digest, size }: Chunk, file: string, mode: number): boolean {
    const blob = this.#file(digest);
    const isFree = lstatSync(blob, { throwIfNoEntry: false })?.nlink === 1;
    if (!isFree || (!this.#verified.delete(digest) && this.#read(digest) === undefined)) return false;
    // Two processes that take a blob at once see three names, or one of them does.
    if (!linkFile(blob, file, (stats) => stats.nlink === 2 && stats.size === size)) return false;
    chmodSync(file, mode);
    utimesSync(file, WRITTEN_AT, WRITTEN_AT);
    return true;
  }

  #file(digest: Digest): string {
    return this.#folder.of("blobs", digest.slice(0, 2), digest);
  }
}

/** The error for bytes that do not have the digest under which they were sent. */
export function wrongBytes(digest: Digest, actual: Digest): SyncError {
  return new SyncError(
    "transfer-failed",
    `cannot store blob ${digest.slice(0, 12)}: its bytes have the digest ${actual.slice(0, 12)}`,
  );
}
