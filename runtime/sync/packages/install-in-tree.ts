/**
 * Installs packages in a tree on this host. npm installs them once for each lock, in the cache of the user; a tree links their files, so
 * that its modules find them at the same places as on the driver's machine.
 */
import { constants, copyFileSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import type { TreePackages } from "../../../generated/sync.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { installPackages } from "../../tasks/environment/install-packages.js";
import { checkAddons } from "../store/check-addons.js";
import { linkFile } from "../store/written-file.js";
import { SyncError } from "../sync-error.js";
import { refusePath } from "../tree/tree-path.js";

/** The file that npm writes last into `node_modules`. */
const LAST = ".package-lock.json";

/**
 * Installs packages in a tree, unless they are there. Files that the tree has already stay.
 *
 * @param folder the folder of the tree
 * @throws {SyncError} if npm cannot install them, or one of them has no addon for this machine
 */
export async function installInTree(folder: string, packages: readonly TreePackages[]): Promise<void> {
  for (const { at, manifest, lock } of packages) {
    const fail = (why: string, cause?: unknown) => {
      const text = `cannot install the packages of the program on ${hostname()}: ${why}`;
      return new SyncError("packages-failed", text, { path: at, ...(cause === undefined ? {} : { cause }) });
    };
    const refusal = at === "" ? undefined : refusePath(at);
    if (refusal !== undefined) throw fail(`${refusal}, got ${JSON.stringify(at)}`);
    let installed: string;
    try {
      installed = await installPackages({ manifest, lock });
    } catch (cause) {
      const advice = 'check that this host reaches the registry of npm, or leave packages: "install" out';
      throw fail(`${errorMessage(cause)}; ${advice}, so that hosts get the packages of the driver's machine`, cause);
    }
    try {
      const [from, to] = [path.join(installed, "node_modules"), path.join(folder, at, "node_modules")];
      if (lstatSync(path.join(to, LAST), { throwIfNoEntry: false }) === undefined) linkAll(from, to);
    } catch (cause) {
      throw fail(errorMessage(cause), cause);
    }
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
    checkAddons(installed, files);
  }
}

/** Links all files of a folder into another one. */
function linkAll(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o755 });
  const entries = readdirSync(from, { withFileTypes: true });
  // This file says that the others are there.
  entries.sort((left, right) => Number(left.name === LAST) - Number(right.name === LAST));
  for (const entry of entries) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    try {
      if (entry.isDirectory()) linkAll(source, target);
      else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
      else if (!linkFile(source, target, () => true)) {
        copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      }
    } catch (error) {
      // The tree has the file, or another process has just linked it.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
