/** Decides which files a scan leaves out: folders that no program needs on a host, and what the user excludes by patterns. */
import { globToRegExp } from "../../../shared/text/glob-to-regexp.js";

/** Folders that belong to one checkout or one machine. They are never carried to a host. */
const PRIVATE_FOLDERS: ReadonlySet<string> = new Set([".git", ".viceroy", ".hg", ".svn"]);

/** Tells which paths of a root are left out. */
export interface Excludes {
  /**
   * Returns whether the path, or a folder that contains it, is left out.
   *
   * @param path relative to the root, with forward slashes
   */
  has(path: string): boolean;
  /** Returns whether the user has excluded the path, or a folder that contains it. Packages are otherwise carried whole. */
  hasByPattern(path: string): boolean;
}

/**
 * Returns what a scan leaves out.
 *
 * @param patterns glob patterns; one without a slash matches names in all folders, another one paths from the root on. A folder
 * that matches is left out with everything in it.
 * @param included folders that are carried although a scan leaves them out by default, relative to the root
 */
export function excludesOf(patterns: readonly string[], included: readonly string[]): Excludes {
  const names: RegExp[] = [];
  const paths: RegExp[] = [];
  for (const pattern of patterns) {
    const trimmed = pattern.replace(/^\.?\//, "").replace(/\/$/, "");
    const isPath = trimmed.includes("/") || /^\.?\//.test(pattern);
    (isPath ? paths : names).push(globToRegExp(trimmed, { hidden: true }));
  }
  const wanted = included.map((folder) => folder.replace(/^\.\//, "").replace(/\/$/, ""));
  const verdicts = new Map<string, boolean>([["", false]]);

  const matches = (path: string, name: string): boolean =>
    names.some((pattern) => pattern.test(name)) || paths.some((pattern) => pattern.test(path));
  const isLeftOut = (path: string, name: string): boolean => {
    if (PRIVATE_FOLDERS.has(name)) return true;
    // Packages are left out wherever they are, except in what the user includes.
    if (name === "node_modules" && !wanted.some((folder) => path === folder || path.startsWith(`${folder}/`)))
      return true;
    return matches(path, name);
  };
  const isFolderLeftOut = (folder: string): boolean => {
    const known = verdicts.get(folder);
    if (known !== undefined) return known;
    const verdict = has(folder);
    verdicts.set(folder, verdict);
    return verdict;
  };
  const has = (path: string): boolean => {
    const slash = path.lastIndexOf("/");
    if (slash > 0 && isFolderLeftOut(path.slice(0, slash))) return true;
    return isLeftOut(path, path.slice(slash + 1));
  };
  const hasByPattern = (path: string): boolean => {
    if (names.length + paths.length === 0) return false;
    for (let end = path.indexOf("/"); ; end = path.indexOf("/", end + 1)) {
      const at = end < 0 ? path : path.slice(0, end);
      if (matches(at, at.slice(at.lastIndexOf("/") + 1))) return true;
      if (end < 0) return false;
    }
  };
  return { has, hasByPattern };
}
