/**
 * Files as a store has written them. All of them have one fixed time, by which a file is recognised that a program has written since. Some
 * files have several names in a store, by hard links.
 */
import { constants, copyFileSync, linkSync, lstatSync, rmSync, type Stats, utimesSync } from "node:fs";

/** The time of all files of trees in seconds. 1 January 2020. */
export const WRITTEN_AT = 1_577_836_800;

/** Returns whether a file still has the time with which a store has written it. */
export function isAsWritten({ mtimeMs }: Stats): boolean {
  return mtimeMs === WRITTEN_AT * 1000;
}

/**
 * Gives a file another name, if the file is what is expected once it has both names.
 *
 * @returns whether the name exists now; false also if the file does not exist, or the file system has no further names for it
 */
export function linkFile(file: string, name: string, isExpected: (stats: Stats) => boolean): boolean {
  try {
    linkSync(file, name);
  } catch (error) {
    // Whoever writes the file instead reports that the name is taken.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    return false;
  }
  if (isExpected(lstatSync(name))) return true;
  rmSync(name);
  return false;
}

/**
 * Copies a file as a store has written it. File systems that can do so let both files share their content until one of them is written to.
 *
 * @returns whether the copy exists now; false also if the file does not exist or cannot be read
 */
export function copyFile(file: string, copy: string, isExpected: (stats: Stats | undefined) => boolean): boolean {
  try {
    copyFileSync(file, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EACCES") return false;
    throw error;
  }
  // A program that writes to the file meanwhile has changed its time.
  if (isExpected(lstatSync(file, { throwIfNoEntry: false }))) {
    utimesSync(copy, WRITTEN_AT, WRITTEN_AT);
    return true;
  }
  rmSync(copy);
  return false;
}
