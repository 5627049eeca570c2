/**
 * Finds the installed packages that a program needs on other machines: those of `dependencies` in each manifest of the roots, what they
 * need, and so on. Packages in the roots keep their paths, as do the links by which they are found. Others, as those that are hoisted to a
 * folder above a root or linked from elsewhere, get a place in the `node_modules` of a root, where Node.js finds them.
 */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { contains } from "./check-root.js";
import type { ListedRoot } from "./listed-root.js";
import { filesOfInstalled } from "./package-files.js";

/** A file of this machine that gets another path in a root. */
export interface PlacedFile {
  /** The path relative to the root. */
  readonly at: string;
  /** The absolute path. */
  readonly file: string;
}

/**
 * Adds the packages to the listings of the roots.
 *
 * @param extra the names of further packages that the modules of the first root use, as a loader of TypeScript
 * @param hasDependencies whether the packages on which those in the roots depend are added
 * @returns the files of packages outside of the roots, by root
 */
export function addPackages(
  roots: readonly ListedRoot[],
  extra: readonly string[],
  hasDependencies = true,
): Map<ListedRoot, PlacedFile[]> {
  const search = new PackageSearch(roots);
  const isInstalled = (found: string) => found.split("/").includes("node_modules");
  for (const [i, root] of roots.entries()) {
    for (const found of [...root.paths]) {
      // Without git, a root lists the packages that are installed in it, too.
      if (isInstalled(found) && !hasDependencies) root.paths.delete(found);
      if (path.basename(found) !== "package.json" || isInstalled(found) || !hasDependencies) continue;
      const folder = path.join(root.root, path.dirname(found));
      search.need(root, folder, folder, dependenciesOf(folder));
    }
    if (i === 0) search.need(root, root.root, root.root, extra);
  }
  return search.placed;
}

class PackageSearch {
  readonly placed = new Map<ListedRoot, PlacedFile[]>();
  readonly #roots: readonly ListedRoot[];
  /** The real folders of packages, by their folders in the roots. */
  readonly #taken = new Map<string, string>();
  readonly #seen = new Set<string>();

  constructor(roots: readonly ListedRoot[]) {
    this.#roots = roots;
  }

  /**
   * Adds packages that a folder imports.
   *
   * @param root the root to which the folder belongs
   * @param folder the real folder on this machine
   * @param place the folder in the root where processes will find it
   */
  need(root: ListedRoot, folder: string, place: string, names: readonly string[]): void {
    for (const name of names) {
      const found = findPackage(folder, name);
      if (found !== undefined) this.#add(root, place, name, found);
    }
  }

  #add(root: ListedRoot, dependent: string, name: string, found: string): void {
    const real = realpathSync(found);
    const home = this.#rootOf(real);
    if (home !== undefined) {
      const at = this.#rootOf(found);
      // Links can lead to another root.
      if (found !== real && at !== undefined && lstatSync(found).isSymbolicLink()) at.addFile(inRoot(at, found));
      if (this.#isNew(real, real) && real.split(path.sep).includes("node_modules")) {
        for (const file of filesOfInstalled(real)) {
          const name = inRoot(home, path.join(real, file));
          if (!home.isExcludedByPattern(name)) home.addFile(name);
        }
      }
      if (this.#isNew(real, `${real}\0needs`)) this.need(home, real, real, dependenciesOf(real));
      return;
    }
    const at = this.#rootOf(found) === undefined ? path.join(root.root, "node_modules", name) : found;
    const place = this.#isFree(at, real) ? at : path.join(dependent, "node_modules", name);
    if (!this.#isFree(place, real) || !this.#isNew(real, place)) return;
    this.#taken.set(place, real);
    const placed = this.placed.get(root) ?? [];
    this.placed.set(root, placed);
    for (const file of filesOfInstalled(real)) {
      const inside = inRoot(root, path.join(place, file));
      if (!root.isExcludedByPattern(inside)) placed.push({ at: inside, file: path.join(real, file) });
    }
    this.need(root, real, place, dependenciesOf(real));
  }

  #isFree(place: string, real: string): boolean {
    return (this.#taken.get(place) ?? real) === real;
  }

  #isNew(real: string, place: string): boolean {
    const key = `${real}\0${place}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  #rootOf(file: string): ListedRoot | undefined {
    return this.#roots.find(({ root }) => contains(root, file));
  }
}

function inRoot({ root }: ListedRoot, file: string): string {
  return path.relative(root, file).replaceAll(path.sep, "/");
}

/** Returns the folder of a package as Node.js finds it from a folder; it can be a link. */
function findPackage(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = path.dirname(folder)) {
    if (path.basename(folder) !== "node_modules") {
      const found = path.join(folder, "node_modules", name);
      if (lstatSync(path.join(found, "package.json"), { throwIfNoEntry: false }) !== undefined) return found;
    }
    if (path.dirname(folder) === folder) return undefined;
  }
}

/** Returns the packages that a package needs. A program that uses an optional peer of a package depends on the peer itself. */
function dependenciesOf(folder: string): string[] {
  try {
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Record<string, object>;
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
    const isOptional = (name: string) =>
      (peerDependenciesMeta as Record<string, { optional?: unknown }>)[name]?.optional;
    const peers = Object.keys(peerDependencies).filter((name) => !isOptional(name));
    return [...new Set([...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])];
  } catch {
    return [];
  }
}
