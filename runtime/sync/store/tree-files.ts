/** The trees of a store as files: their manifests, and the folders into which they are written. */
import { existsSync, lstatSync, readFileSync, renameSync, utimesSync } from "node:fs";
import type { TreeManifest } from "../../../generated/sync.js";
import type { Digest } from "../tree/digest.js";
import { decodeManifest } from "../tree/manifest.js";
import type { StoreFolder } from "./store-folder.js";
import type { EarlierTree } from "./write-tree.js";

/** A manifest, and its bytes as they are stored. */
export interface StoredManifest {
  readonly manifest: TreeManifest;
  readonly bytes: Uint8Array;
}

export class TreeFiles {
  readonly #folder: StoreFolder;

  constructor(folder: StoreFolder) {
    this.#folder = folder;
  }

  /** Returns the path of the manifest of a tree. */
  manifestFile(id: Digest): string {
    return this.#folder.of("manifests", id);
  }

  writeManifest(id: Digest, bytes: Uint8Array): void {
    this.#folder.attempt("store a manifest", () => this.#folder.write(this.manifestFile(id), bytes, 0o600));
  }

  manifest(id: Digest): StoredManifest | undefined {
    try {
      const bytes = readFileSync(this.manifestFile(id));
      return { manifest: decodeManifest(bytes, id), bytes };
    } catch {
      // There is none, or it is damaged and made again of its chunks.
      return undefined;
    }
  }

  /** Marks a tree as used now. */
  touch(id: Digest): void {
    const now = new Date();
    try {
      utimesSync(this.manifestFile(id), now, now);
    } catch {
      // The manifest is not there yet.
    }
  }

  /** Returns the time in milliseconds at which a tree was used last, 0 if it has no manifest. */
  usedAt(id: Digest): number {
    return lstatSync(this.manifestFile(id), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  /** Returns the ids of all trees that have a manifest or a folder. */
  ids(): Set<Digest> {
    const folders = this.#folder.names("trees").map((name) => name.slice(0, 64));
    return new Set([...this.#folder.names("manifests"), ...folders]);
  }

  /** Returns the folders of a tree, the newest first. */
  folders(id: Digest): string[] {
    const versionOf = (name: string): number => Number(name.slice(id.length + 1) || 0);
    const names = this.#folder.names("trees").filter((name) => name === id || name.startsWith(`${id}.`));
    return names
      .sort((left, right) => versionOf(right) - versionOf(left))
      .map((name) => this.#folder.of("trees", name));
  }

  /** Renames a finished folder to the first free name of its tree. */
  place(id: Digest, unfinished: string): string {
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

  /** Returns the tree among those with a folder that was used last, other than one. */
  latest(other: Digest): EarlierTree | undefined {
    const ids = [...this.ids()].filter((id) => id !== other).map((id) => ({ id, usedAt: this.usedAt(id) }));
    for (const { id } of ids.sort((left, right) => right.usedAt - left.usedAt)) {
      const [folder] = this.folders(id);
      const manifest = folder === undefined ? undefined : this.manifest(id)?.manifest;
      if (folder !== undefined && manifest !== undefined) return { folder, manifest };
    }
    return undefined;
  }
}
