/**
 * The blobs of a store, each a file that is named by the digest of its content. A blob is verified before it is stored, and again
 * before it is used: the machine may have lost power since.
 */
import { existsSync, mkdirSync, readFileSync, utimesSync } from "node:fs";
import { SyncError } from "../sync-error.js";
import { type Digest, digestOf } from "../tree/digest.js";
import type { StoreFolder } from "./store-folder.js";

/** A source of blobs: a store of files, or the memory of a test. */
export interface BlobSource {
  /** Returns whether the blob is there. */
  has(digest: Digest): boolean;
  /** Returns a blob whose content is what its digest says, or undefined. */
  get(digest: Digest): Uint8Array | undefined;
}

/** A place that takes blobs. */
export interface BlobSink extends BlobSource {
  /**
   * Stores a blob.
   *
   * @throws {SyncError} if the bytes do not have the digest, or if the store cannot be written
   */
  put(digest: Digest, bytes: Uint8Array): void;
}

export class BlobFiles implements BlobSink {
  readonly #folder: StoreFolder;
  readonly #made = new Set<string>();

  constructor(folder: StoreFolder) {
    this.#folder = folder;
  }

  has(digest: Digest): boolean {
    return existsSync(this.#file(digest));
  }

  get(digest: Digest): Uint8Array | undefined {
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

  put(digest: Digest, bytes: Uint8Array): void {
    const actual = digestOf(bytes);
    if (actual !== digest) throw wrongBytes(digest, actual);
    const file = this.#file(digest);
    this.#folder.attempt("store a blob", () => {
      const prefix = digest.slice(0, 2);
      if (!this.#made.has(prefix)) mkdirSync(this.#folder.of("blobs", prefix), { recursive: true, mode: 0o700 });
      this.#made.add(prefix);
      this.#folder.write(file, bytes, 0o400);
    });
  }

  /** Marks a blob as used now, so that it is not removed before a manifest that needs it is complete. */
  touch(digest: Digest): void {
    const now = new Date();
    try {
      utimesSync(this.#file(digest), now, now);
    } catch {
      // It is fetched again.
    }
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
