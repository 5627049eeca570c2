/** The sources and targets of COPY in a Dockerfile. */
import { readdirSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { globToRegExp } from "../../../../shared/text/glob-to-regexp.js";

/**
 * Returns the paths that a source means, relative to the folder of the Dockerfile.
 * @throws TypeError if a pattern matches nothing, or the source is outside of the folder
 */
export function expandSources(folder: string, source: string): string[] {
  const path =
    posix
      .normalize(source)
      .replace(/^\/+/, "")
      .replace(/(?<=.)\/$/, "") || ".";
  if (path === ".." || path.startsWith("../")) {
    throw new TypeError(`${source} is outside of the folder of the Dockerfile; copy files of that folder`);
  }
  if (!/[*?[]/.test(path)) return [path];
  const found = path
    .split("/")
    .reduce<string[]>((folders, part) => folders.flatMap((at) => named(folder, at, part)), [""]);
  if (found.length > 0) return found;
  throw new TypeError(`${source} matches no file in ${folder}`);
}

/** Returns the entries of a folder whose names match. */
function named(folder: string, at: string, pattern: string): string[] {
  const expression = globToRegExp(
    pattern.replaceAll(/[{}]/g, (brace) => `[${brace}]`),
    { hidden: true },
  );
  try {
    return readdirSync(join(folder, at))
      .filter((name) => expression.test(name))
      .sort()
      .map((name) => posix.join(at, name));
  } catch {
    // It is a file, which has no entries.
    return [];
  }
}

/**
 * Returns where a source is copied to: a folder's content, or a file below a target that is a folder.
 * @param count the number of sources
 * @throws TypeError if several sources have a target that is no folder
 * @throws Error if the source does not exist
 */
export function targetOf(folder: string, source: string, to: string, count: number): string {
  const isFolder = /(?:^|\/)\.{0,2}$/.test(to);
  if (count > 1 && !isFolder) throw new TypeError(`several files need a target that ends with /, got ${to}`);
  if (statSync(join(folder, source)).isDirectory()) return to;
  return isFolder ? posix.join(to, posix.basename(source)) : to;
}
