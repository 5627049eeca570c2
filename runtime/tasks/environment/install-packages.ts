/**
 * Installs npm packages once per host, in a folder of the user's cache whose name is the hash of what is installed. A
 * folder is there as a whole or not at all.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { LockedPackages } from "../../../generated/tasks.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { cacheDirectory, lockFile, makePrivateDirectory, usesMusl } from "../kernel.js";
import { runNpm } from "./npm.js";

/** Number of folders that are kept although nobody uses them, the ones that were used last. */
const foldersKept = 10;

/** Time in ms after the last sign of a user after which a folder counts as unused, and between two signs. */
const unusedMs = 24 * 3_600_000;
const signMs = 3_600_000;

/** The folder with the locks of installations. */
const locksName = "locks";

/** Installations that this process has begun, by folder. */
const installations = new Map<string, Promise<string>>();

/**
 * Returns the folder with the packages, which is installed if it is not there. The folder stays at least as long as this
 * process.
 *
 * @returns a folder with a `node_modules`
 * @throws Error if the packages cannot be installed, with what npm has printed
 */
export function installPackages(packages: LockedPackages): Promise<string> {
  const root = join(cacheDirectory(), "packages");
  const folder = join(root, keyOf(packages));
  let known = installations.get(folder);
  if (known === undefined) {
    known = install(root, folder, packages).then(() => {
      setInterval(() => markUsed(folder), signMs).unref();
      return folder;
    });
    installations.set(folder, known);
    known.catch(() => installations.delete(folder));
  }
  return known;
}

/** Packages can have parts for one version of Node.js, one system and one processor. */
function keyOf({ manifest, lock }: LockedPackages): string {
  const { versions, platform, arch } = process;
  const parts = [manifest, lock, versions.modules, platform, arch, usesMusl()];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

async function install(root: string, folder: string, { manifest, lock }: LockedPackages): Promise<void> {
  if (!makePrivateDirectory(root)) {
    throw new Error(`cannot install packages: ${root} does not belong to this user alone, or cannot be created`);
  }
  markUsed(folder);
  if (existsSync(folder)) return;
  const locks = join(root, locksName);
  mkdirSync(locks, { recursive: true, mode: 0o700 });
  const held = await lockFile(join(locks, basename(folder)));
  try {
    if (existsSync(folder)) return;
    const unfinished = `${folder}.new`;
    // A process that was killed has left it.
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { mode: 0o700 });
    writeFileSync(join(unfinished, "package.json"), manifest);
    writeFileSync(join(unfinished, "package-lock.json"), lock);
    await runNpm(unfinished, ["ci", "--omit=dev"]);
    // npm makes none if there are no packages.
    mkdirSync(join(unfinished, "node_modules"), { recursive: true });
    renameSync(unfinished, folder);
  } catch (cause) {
    rmSync(`${folder}.new`, { recursive: true, force: true });
    throw new Error(`cannot install packages in ${folder}: ${errorMessage(cause)}`, { cause });
  } finally {
    held.release();
  }
  removeUnused(root, Date.now());
}

/** Notes that a folder is in use. */
function markUsed(folder: string): void {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch {
    // The folder is not there.
  }
}

/**
 * Removes the folders that nobody uses, except for those that were used last.
 *
 * @param now the time in ms since 1970
 */
export function removeUnused(root: string, now: number): void {
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== locksName)
    .flatMap(({ name }) => {
      const folder = join(root, name);
      const at = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
      return at === undefined ? [] : [{ folder, at }];
    })
    .sort((left, right) => right.at - left.at);
  for (const { folder, at } of folders.slice(foldersKept)) {
    if (now - at < unusedMs || statSync(folder, { throwIfNoEntry: false })?.mtimeMs !== at) continue;
    const unused = `${folder}.old`;
    try {
      // Nobody finds a folder of which only a part is there.
      renameSync(folder, unused);
      rmSync(unused, { recursive: true, force: true });
    } catch {
      // Another process removes it.
    }
  }
}
