/** Lists a root: with git where it is in a work tree, otherwise as it is on the disk. */
import { lstatSync } from "node:fs";
import path from "node:path";
import type { Excludes } from "./excludes.js";
import { listFolder } from "./list-folder.js";
import { listWithGit } from "./list-with-git.js";
import type { FileCount } from "./scan-limits.js";

/** The files and links of a root. */
export interface Listing {
  /** Relative to the root. */
  readonly paths: ReadonlySet<string>;
  /** Whether git has listed them. */
  readonly byGit: boolean;
}

/**
 * Lists a root. A repository in the root, as a submodule, is listed like a root of its own.
 *
 * @throws {SyncError} if there are too many files, or one of them cannot be carried to a host
 */
export async function listRoot(root: string, excludes: Excludes, count: FileCount): Promise<Listing> {
  const paths = new Set<string>();
  const add = (found: string): void => {
    // Git lists a file with conflicts several times.
    if (paths.has(found)) return;
    count.add(root, found);
    paths.add(found);
  };
  const list = async (folder: string): Promise<boolean> => {
    const nested: string[] = [];
    const prefix = folder === "" ? "" : `${folder}/`;
    const isExcluded = (name: string) => excludes.has(prefix + name);
    const byGit = await listWithGit(path.join(root, folder), isExcluded, (name) => {
      if (name.endsWith("/")) nested.push(prefix + name.slice(0, -1));
      else add(prefix + name);
    });
    if (!byGit) {
      listFolder(root, folder, excludes, add);
      return false;
    }
    for (const repository of nested) await list(repository);
    return true;
  };
  const byGit = await list("");
  // Git lists a submodule as if it were a file.
  for (const submodule of byGit ? await submodulesOf(root, paths) : []) {
    paths.delete(submodule);
    await list(submodule);
  }
  return { paths, byGit };
}

/** Returns the listed paths that are folders. Only a root with submodules can have some. */
async function submodulesOf(root: string, paths: ReadonlySet<string>): Promise<string[]> {
  if (![...paths].some((found) => found === ".gitmodules" || found.endsWith("/.gitmodules"))) return [];
  return [...paths].filter((found) => lstatSync(path.join(root, found), { throwIfNoEntry: false })?.isDirectory());
}
