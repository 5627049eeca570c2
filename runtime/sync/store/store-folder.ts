/**
 * The folders of a store, and how files get into them: completely or not at all. Every file and folder is made among the temporary
 * ones and then renamed, so that a process that is killed leaves nothing half in its place.
 */
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { isPrivate } from "../../cache/private-files.js";
import { SyncError } from "../sync-error.js";
import { hasEnded, thisOwner } from "./owner.js";

const PARTS = ["blobs", "manifests", "trees", "current", "uses", "temporary"] as const;
/** A folder of a store: content by digest, manifests by id, trees by id, names of trees, marks of use, and unfinished files. */
export type StorePart = (typeof PARTS)[number];

export class StoreFolder {
  readonly path: string;
  #unfinished = 0;

  /**
   * Opens the folder of a store, which is made if it does not exist. What ended processes have left unfinished is removed.
   *
   * @throws {SyncError} if the folder cannot be made, or if other users could have written to it: what is in it is code
   */
  constructor(folder: string) {
    this.path = folder;
    this.attempt("open the store", () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!isPrivate(lstatSync(folder))) {
        throw new Error("it is not a folder that only this user can write; remove it, or choose another one");
      }
      for (const part of PARTS) mkdirSync(path.join(folder, part), { recursive: true, mode: 0o700 });
    });
    this.#removeLeftOver();
  }

  /** Returns the path of a file or folder of the store. */
  of(part: StorePart, ...names: string[]): string {
    // These are the paths of thousands of files, and normalizing them took as long as the system calls.
    return [this.path, part, ...names].join(path.sep);
  }

  /** Returns a new path for an unfinished file or folder. */
  unfinished(): string {
    return this.of("temporary", `${thisOwner()}.${this.#unfinished++}`);
  }

  /** Writes a file completely or not at all. */
  write(target: string, bytes: Uint8Array, mode: number): void {
    const unfinished = this.unfinished();
    try {
      const descriptor = openSync(unfinished, "wx", mode);
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      } finally {
        closeSync(descriptor);
      }
      renameSync(unfinished, target);
    } catch (error) {
      removeUnfinished(unfinished);
      throw error;
    }
  }

  /** Removes a file or folder, which is gone for others at once. */
  remove(target: string): void {
    const unfinished = this.unfinished();
    try {
      renameSync(target, unfinished);
    } catch (error) {
      // Another process has removed it.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    rmSync(unfinished, { recursive: true, force: true });
  }

  /** Returns the names in a folder of the store. */
  names(part: StorePart, ...names: string[]): string[] {
    try {
      return readdirSync(this.of(part, ...names));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }

  /** Runs a function, and says which store of which host cannot do what if it throws. */
  attempt<T>(what: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw this.failure(what, error);
    }
  }

  /** Returns the error for what has failed in this store. */
  failure(what: string, error: unknown): Error {
    if (error instanceof SyncError) return error;
    const { code, message } = error as NodeJS.ErrnoException;
    const why = REASONS[code ?? ""] ?? message;
    return new SyncError("store-failed", `cannot ${what} on ${hostname()}: ${why}, got ${this.path}`, {
      path: this.path,
      cause: error,
    });
  }

  #removeLeftOver(): void {
    for (const name of this.names("temporary")) {
      if (hasEnded(name)) rmSync(this.of("temporary", name), { recursive: true, force: true });
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full (ENOSPC); free some space, or set XDG_CACHE_HOME to a folder on another disk",
  EDQUOT:
    "the disk quota of the user is used up (EDQUOT); free some space, or set XDG_CACHE_HOME to a folder on another disk",
  EROFS: "the file system is read-only (EROFS); set XDG_CACHE_HOME to another folder",
  EACCES: "permission denied (EACCES); set XDG_CACHE_HOME to another folder",
};

/** Removes what could not be finished. Why that was so matters more than whether the removal succeeds. */
function removeUnfinished(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The next process that opens the store removes it.
  }
}
