/**
 * Finds what a program needs although git ignores it: compiled output, generated code and what both import. The search begins at
 * the files that the program starts with, and follows their imports inside of the roots. A folder of which git lists nothing, as
 * `dist`, is needed as a whole as soon as a module in it is: the module may read what is beside it.
 */
import { lstatSync, readFileSync, realpathSync, type Stats } from "node:fs";
import path from "node:path";
import { SyncError } from "../sync-error.js";
import { contains } from "./check-root.js";
import { candidatesOf, filesOfPackage, importsIn, isCode } from "./imports.js";

/** The roots of a scan, and what has been listed in them. */
export interface SearchedRoots {
  readonly roots: readonly SearchedRoot[];
  /** Returns what a file was found to import in its current state. */
  importsOf(file: string): readonly string[] | undefined;
  setImports(file: string, imports: readonly string[]): void;
}

export interface SearchedRoot {
  /** The absolute path. */
  readonly root: string;
  /** Returns whether a path, relative to the root, is in the listing. */
  has(path: string): boolean;
  /** Adds a file to the listing. */
  addFile(path: string): void;
  /** Adds all files of a folder to the listing, unless they are excluded. */
  addFolder(path: string): void;
  /** Returns whether a path is excluded. */
  isExcluded(path: string): boolean;
}

/**
 * Adds what the files need to the listings.
 *
 * @param needed absolute paths of files with which the program starts
 * @throws {SyncError} if one of them is in none of the roots
 */
export function addNeededFiles(needed: readonly string[], searched: SearchedRoots): void {
  new Search(searched).run(needed);
}

class Search {
  readonly #searched: SearchedRoots;
  readonly #seen = new Set<string>();
  readonly #pending: string[] = [];
  /** The folders of packages, by the importing folder and the name. */
  readonly #packages = new Map<string, string | undefined>();
  /** The nearest package.json of each folder. */
  readonly #manifests = new Map<string, string | undefined>();

  constructor(searched: SearchedRoots) {
    this.#searched = searched;
  }

  run(needed: readonly string[]): void {
    for (const file of needed) {
      const real = realPath(file);
      if (real === undefined) {
        throw new SyncError("entry-refused", `cannot sync ${file}: the program starts with it, and it does not exist`, {
          path: file,
        });
      }
      if (this.#rootOf(real) === undefined && !isInstalled(real)) {
        const roots = this.#searched.roots.map(({ root }) => root).join(", ");
        throw new SyncError(
          "root-refused",
          `cannot sync ${file}: the program starts with it, and it is in none of the roots; add its folder to roots, got ${roots}`,
          { path: file },
        );
      }
      this.#need(real);
    }
    for (let file = this.#pending.pop(); file !== undefined; file = this.#pending.pop()) this.#follow(file);
  }

  #rootOf(file: string): SearchedRoot | undefined {
    return this.#searched.roots.find(({ root }) => contains(root, file));
  }

  /** Adds a file that exists, and remembers to follow it. */
  #need(file: string): void {
    if (this.#seen.has(file)) return;
    this.#seen.add(file);
    const root = this.#rootOf(file);
    if (root === undefined) return;
    const inRoot = path.relative(root.root, file).replaceAll(path.sep, "/");
    if (root.isExcluded(inRoot)) return;
    if (!root.has(inRoot)) {
      const folder = isCode(file) ? this.#unlistedFolder(root, inRoot) : undefined;
      if (folder === undefined) root.addFile(inRoot);
      else root.addFolder(folder);
    }
    if (isCode(file) || path.basename(file) === "package.json") this.#pending.push(file);
  }

  /** Returns the outermost folder around a path of which nothing was listed. */
  #unlistedFolder(root: SearchedRoot, inRoot: string): string | undefined {
    const names = inRoot.split("/").slice(0, -1);
    for (let depth = 1; depth <= names.length; depth++) {
      const folder = names.slice(0, depth).join("/");
      if (!root.has(`${folder}/`)) return folder;
    }
    return undefined;
  }

  #follow(file: string): void {
    const folder = path.dirname(file);
    const isManifest = path.basename(file) === "package.json";
    let imports = this.#searched.importsOf(file);
    if (imports === undefined) {
      const text = readText(file);
      imports = isManifest ? filesOfPackage(text) : importsIn(text);
      this.#searched.setImports(file, imports);
    }
    for (const specifier of imports) {
      if (isManifest || /^\.{1,2}\//.test(specifier)) this.#needPath(path.resolve(folder, specifier));
      else if (!specifier.startsWith("#")) this.#needPackage(folder, specifier);
    }
    // The nearest manifest says what kind of module the file is, and what names with "#" mean.
    const manifest = this.#manifestOf(folder);
    if (manifest !== undefined) this.#need(manifest);
  }

  #needPath(file: string): void {
    if (file.includes("*")) {
      // A pattern of a manifest names files in a folder.
      const folder = file.slice(0, file.indexOf("*"));
      this.#needFolder(folder.endsWith("/") ? folder.slice(0, -1) : path.dirname(folder));
      return;
    }
    const root = this.#rootOf(file);
    if (root === undefined) return;
    const candidates = candidatesOf(file);
    const isListed = (candidate: string) => root.has(path.relative(root.root, candidate).replaceAll(path.sep, "/"));
    // The listing answers without a system call.
    const found = candidates.find(isListed) ?? candidates.find((candidate) => statOf(candidate)?.isFile());
    if (found !== undefined) this.#need(found);
  }

  #needFolder(folder: string): void {
    const root = this.#rootOf(folder);
    if (root === undefined || !statOf(folder)?.isDirectory()) return;
    const inRoot = path.relative(root.root, folder).replaceAll(path.sep, "/");
    if (inRoot === "" || root.isExcluded(inRoot) || root.has(`${inRoot}/`)) return;
    root.addFolder(inRoot);
  }

  /** Follows a package of the same repository, to which a link in `node_modules` leads. Installed packages are not followed. */
  #needPackage(from: string, specifier: string): void {
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    const folder = this.#packageFolder(from, name);
    if (folder !== undefined) this.#needPath(path.join(folder, "package.json"));
  }

  #packageFolder(from: string, name: string): string | undefined {
    const key = `${from}\0${name}`;
    if (this.#packages.has(key)) return this.#packages.get(key);
    const folder = path.join(from, "node_modules", name);
    const parent = path.dirname(from);
    let found: string | undefined;
    if (statOf(folder)?.isSymbolicLink()) {
      const real = realPath(folder);
      if (real !== undefined && !isInstalled(real) && this.#rootOf(real) !== undefined) found = real;
    } else if (statOf(folder) === undefined && parent !== from) found = this.#packageFolder(parent, name);
    this.#packages.set(key, found);
    return found;
  }

  #manifestOf(folder: string): string | undefined {
    if (this.#manifests.has(folder)) return this.#manifests.get(folder);
    let found: string | undefined;
    if (this.#rootOf(folder) !== undefined) {
      const manifest = path.join(folder, "package.json");
      found = statOf(manifest)?.isFile() ? manifest : this.#manifestOf(path.dirname(folder));
    }
    this.#manifests.set(folder, found);
    return found;
  }
}

/** Returns whether a file belongs to an installed package. */
function isInstalled(file: string): boolean {
  return file.split(path.sep).includes("node_modules");
}

function statOf(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch {
    // A part of the path is a file.
    return undefined;
  }
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
