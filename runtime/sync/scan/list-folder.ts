/** Lists all files of a folder, for roots that are not in git, and for folders that git ignores but the program needs. */
import { type Dirent, readdirSync } from "node:fs";
import path from "node:path";
import { SyncError } from "../sync-error.js";
import type { Excludes } from "./excludes.js";
import { checkNames, mayBeDamaged } from "./name-bytes.js";

/**
 * Lists the files and links in a folder. Links are not followed, so loops of links end.
 *
 * @param root the absolute path of the root
 * @param folder the folder to list, relative to the root, "" for the root
 * @param visit is called with each path, relative to the root
 * @throws {SyncError} if the folder cannot be read, or contains a name that is not UTF-8
 */
export function listFolder(root: string, folder: string, excludes: Excludes, visit: (path: string) => void): void {
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const prefix = next === "" ? "" : `${next}/`;
    for (const entry of entriesOf(root, next)) {
      const found = prefix + entry.name;
      if (excludes.has(found)) continue;
      if (mayBeDamaged(entry.name)) checkNames(root, path.join(root, next), prefix);
      if (entry.isDirectory()) pending.push(found);
      else visit(found);
    }
  }
}

function entriesOf(root: string, folder: string): Dirent[] {
  try {
    return readdirSync(path.join(root, folder), { withFileTypes: true });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // A folder that is removed during the scan is not a part of the tree.
    if (code === "ENOENT" && folder !== "") return [];
    const why = code === "EACCES" ? "permission denied" : message;
    throw new SyncError(
      "entry-refused",
      `cannot scan ${root}: the folder ${folder || "."} cannot be read: ${why}; exclude it, or change its permissions`,
      { path: folder, cause },
    );
  }
}
