/** The roots of a sync. A root that contains the home folder or the whole machine is nearly always a mistake. */
import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import { SyncError } from "../sync-error.js";

/** The facts that decide whether a root is accepted. */
export interface RootRules {
  /** The home folder of the user, "" if there is none. */
  readonly home: string;
  /** Roots that are accepted although they contain the home folder. */
  readonly largeRoots: readonly string[];
}

/**
 * Returns the real path of a root.
 *
 * @param root absolute, or relative to the working directory
 * @throws {SyncError} if it is not a folder, or if it contains the home folder and is not named in `largeRoots`
 */
export function checkRoot(root: string, { home, largeRoots }: RootRules): string {
  const real = realFolder(root);
  const isLarge = contains(real, path.parse(real).root) || (home !== "" && contains(real, realOr(home)));
  if (isLarge && !largeRoots.some((large) => realOr(large) === real)) {
    const what = real === path.parse(real).root ? "the root of the file system" : "or contains the home folder";
    throw new SyncError(
      "root-refused",
      `cannot sync ${root}: it is ${what}; name the folder of the program, or repeat the root in largeRoots if all of it is meant`,
      { path: real },
    );
  }
  return real;
}

/** Returns whether `inner` is `outer`, or in it. */
export function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

function realFolder(root: string): string {
  let real: string;
  try {
    real = realpathSync(root);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "it does not exist" : (cause as Error).message;
    throw new SyncError("root-refused", `cannot sync ${root}: ${why}`, { path: root, cause });
  }
  if (!statSync(real).isDirectory()) {
    throw new SyncError("root-refused", `cannot sync ${root}: it is not a folder; name the folder that contains it`, {
      path: real,
    });
  }
  return real;
}

function realOr(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder);
  }
}
