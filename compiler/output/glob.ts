/**
 * Finds files by glob patterns: `*` and `?` in a name, `**` for any number of folders, `{a,b}` and `[a-z]`. The
 * implementation is small, because it runs in every compilation, even if no file has changed.
 */
import { type Dirent, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { globToRegExp } from "../../shared/text/glob-to-regexp.js";

/**
 * @param root the absolute path of the folder
 * @param patterns the patterns, relative to the folder, with forward slashes; a pattern that begins with `!` excludes
 * files
 * @param skipped folders that are not searched, relative to `root`; `node_modules` folders are never searched
 * @returns the files, relative to `root`, sorted
 */
export function glob(root: string, patterns: readonly string[], skipped: readonly string[]): readonly string[] {
  const matches = matcher(patterns);
  const found = new Set<string>();
  for (const pattern of patterns.filter(isWanted)) {
    walk(root, fixedFolder(pattern), pattern.includes("**"), depthOf(pattern), skipped, (file) => {
      if (matches(file)) found.add(file);
    });
  }
  return [...found].sort();
}

/** Returns a function that tells whether a path matches the patterns. It does not access the disk. */
export function matcher(patterns: readonly string[]): (file: string) => boolean {
  const wanted = patterns.filter(isWanted).map((pattern) => globToRegExp(pattern));
  const unwanted = patterns.filter((pattern) => !isWanted(pattern)).map((pattern) => globToRegExp(pattern.slice(1)));
  const inPackages = /(^|\/)node_modules\//;
  return (file) => {
    const isMeant = wanted.some((expression) => expression.test(file)) && !inPackages.test(file);
    return isMeant && !unwanted.some((expression) => expression.test(file));
  };
}

function isWanted(pattern: string): boolean {
  return !pattern.startsWith("!");
}

/** Returns the folders before the first wildcard. */
function fixedFolder(pattern: string): string {
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => /[*?{[]/.test(part));
  return parts.slice(0, wild < 0 ? -1 : wild).join("/");
}

function depthOf(pattern: string): number {
  return pattern.split("/").length;
}

function walk(
  root: string,
  folder: string,
  anyDepth: boolean,
  depth: number,
  skipped: readonly string[],
  visit: (file: string) => void,
): void {
  for (const entry of entriesOf(path.join(root, folder))) {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
    const kind = kindOf(entry, root, name);
    if (kind === "file") visit(name);
    else if (kind === "folder" && entry.name !== "node_modules" && !skipped.includes(name)) {
      if (anyDepth || depthOf(name) < depth) walk(root, name, anyDepth, depth, skipped, visit);
    }
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Returns the kind of an entry. Links to files are files. Links to folders are not followed, which avoids cycles. */
function kindOf(entry: Dirent, root: string, name: string): "file" | "folder" | "other" {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() && statSync(path.join(root, name), { throwIfNoEntry: false })?.isFile()
    ? "file"
    : "other";
}
