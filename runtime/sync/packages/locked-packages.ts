/** Reads the packages that hosts install for a program: those of its `package-lock.json`, which must fit its `package.json`. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { TreePackages } from "../../../generated/sync.js";
import { readLock } from "../../tasks/environment/lock-packages.js";
import type { PlacedRoot } from "../scan/scan.js";
import { SyncError } from "../sync-error.js";

/** The parts of package.json that its lock repeats. */
type Dependencies = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

const instead = 'or leave packages: "install" out, so that the hosts get the packages of this machine';

/**
 * Returns the packages of the roots that have a package.json.
 *
 * @throws {SyncError} if a lock is missing, cannot be used, or does not fit its package.json
 */
export async function lockedPackages(roots: readonly PlacedRoot[]): Promise<TreePackages[]> {
  const found: TreePackages[] = [];
  for (const { root, at } of roots) {
    if (!existsSync(path.join(root, "package.json"))) continue;
    let read: Omit<TreePackages, "at">;
    try {
      read = await readLock(root, `the program in ${root}`);
    } catch (cause) {
      throw refused(root, `${(cause as Error).message}; correct the lock, ${instead}`, cause);
    }
    const why = differenceOf(read);
    if (why !== undefined) {
      const text = `cannot use the packages of the program in ${root}: package-lock.json does not fit package.json: ${why}`;
      throw refused(root, `${text}; run npm install, ${instead}`);
    }
    found.push({ at, ...read });
  }
  return found;
}

/** Returns the first difference between what package.json asks for and what the lock was made for. */
function differenceOf({ manifest, lock }: Omit<TreePackages, "at">): string | undefined {
  const wanted = JSON.parse(manifest) as Dependencies;
  const locked = (JSON.parse(lock) as { packages: Record<string, Dependencies> }).packages[""] ?? {};
  for (const field of ["dependencies", "optionalDependencies", "peerDependencies"]) {
    const [here, there] = [wanted[field] ?? {}, locked[field] ?? {}];
    for (const name of new Set([...Object.keys(here), ...Object.keys(there)])) {
      if (here[name] === there[name]) continue;
      const show = (range: string | undefined) => (range === undefined ? "nothing" : JSON.stringify(range));
      return `${field} has ${show(here[name])} for ${name}, and the lock ${show(there[name])}`;
    }
  }
  return undefined;
}

function refused(root: string, message: string, cause?: unknown): SyncError {
  return new SyncError("packages-failed", message, { path: root, ...(cause === undefined ? {} : { cause }) });
}
