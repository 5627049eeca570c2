/** The files of one root: what git or a walk has listed, and what is added to it because a program needs it. */
import { lstatSync } from "node:fs";
import path from "node:path";
import { type Excludes, excludesOf } from "./excludes.js";
import { listFolder } from "./list-folder.js";
import { listRoot } from "./list-root.js";
import type { SearchedRoot } from "./needed-files.js";
import type { FileCount } from "./scan-limits.js";

export class ListedRoot implements SearchedRoot {
  readonly root: string;
  /** The files and links, relative to the root. */
  readonly paths = new Set<string>();
  readonly byGit: boolean;
  /** The folders that contain files, each with a slash at its end. */
  readonly #folders = new Set<string>();
  readonly #excludes: Excludes;
  readonly #count: FileCount;

  private constructor(root: string, paths: Iterable<string>, byGit: boolean, excludes: Excludes, count: FileCount) {
    this.root = root;
    this.byGit = byGit;
    this.#excludes = excludes;
    this.#count = count;
    for (const found of paths) this.#insert(found);
  }

  /**
   * Lists a root.
   *
   * @throws {SyncError} if there are too many files, or one of them cannot be carried to a host
   */
  static async of(
    root: string,
    { exclude = [], include = [] }: { readonly exclude?: readonly string[]; readonly include?: readonly string[] },
    count: FileCount,
  ): Promise<ListedRoot> {
    const excludes = excludesOf(exclude, include);
    const { paths, byGit } = await listRoot(root, excludes, count);
    return new ListedRoot(root, paths, byGit, excludes, count);
  }

  has(found: string): boolean {
    return found.endsWith("/") ? this.#folders.has(found) : this.paths.has(found);
  }

  isExcluded(found: string): boolean {
    return this.#excludes.has(found);
  }

  /** Returns whether the user has excluded a path. */
  isExcludedByPattern(found: string): boolean {
    return this.#excludes.hasByPattern(found);
  }

  addFile(found: string): void {
    if (this.paths.has(found)) return;
    this.#count.add(this.root, found);
    this.#insert(found);
  }

  addFolder(folder: string): void {
    listFolder(this.root, folder, this.#excludes, (found) => this.addFile(found));
  }

  /** Adds a file or folder, if it exists and is not excluded. */
  addNeeded(name: string): void {
    const found = path.posix.normalize(name).replace(/\/$/, "");
    const stats = lstatSync(path.join(this.root, found), { throwIfNoEntry: false });
    if (stats === undefined || found.startsWith("..") || this.#excludes.has(found)) return;
    if (stats.isDirectory()) this.addFolder(found);
    else this.addFile(found);
  }

  #insert(found: string): void {
    this.paths.add(found);
    for (let slash = found.lastIndexOf("/"); slash > 0; slash = found.lastIndexOf("/", slash - 1)) {
      const folder = found.slice(0, slash + 1);
      if (this.#folders.has(folder)) return;
      this.#folders.add(folder);
    }
  }
}
