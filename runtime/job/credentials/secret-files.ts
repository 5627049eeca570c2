/** Files that only this user can read, such as keys. A reader sees the old or the new content, and never a part of it. */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { errorMessage } from "../../../shared/text/error-message.js";

/**
 * Makes a folder that only this user can open, if it does not exist.
 * @throws Error if the folder cannot be made, or other users can open it
 */
export function makeSecretFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Error(`cannot make the folder ${folder}: ${errorMessage(cause)}`, { cause });
  }
  const status = lstatSync(folder);
  if (!status.isDirectory()) throw new Error(`cannot keep keys in ${folder}: it is not a folder`);
  checkSecret("keep keys in", folder, status, "700");
}

/**
 * Writes a file completely or not at all.
 * @throws Error if the file cannot be written
 */
export function writeSecretFile(file: string, text: string): void {
  const unfinished = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    const descriptor = openSync(unfinished, "wx", 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(unfinished, file);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    throw new Error(`cannot write ${file}: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * Writes a file completely, unless it exists. Of programs that do so at the same time, one writes it.
 * @returns what the file contains
 * @throws Error if the file cannot be written or read
 */
export function makeSecretFile(file: string, text: string): string {
  const draft = `${file}.${randomBytes(6).toString("hex")}.new`;
  writeSecretFile(draft, text);
  try {
    // A link is made completely or not at all, and replaces nothing.
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readSecretFile(file);
}

/**
 * Reads a file.
 * @throws Error if the file cannot be read, or other users can read it
 */
export function readSecretFile(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (cause) {
    throw new Error(`cannot read ${file}: ${errorMessage(cause)}`, { cause });
  }
  try {
    checkSecret("use", file, fstatSync(descriptor), "600");
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

function checkSecret(verb: string, path: string, { uid, mode }: Stats, expected: string): void {
  if (process.getuid === undefined) return;
  if (uid !== process.getuid()) throw new Error(`cannot ${verb} ${path}: it belongs to another user, number ${uid}`);
  if ((mode & 0o077) === 0) return;
  const got = (mode & 0o777).toString(8);
  throw new Error(
    `cannot ${verb} ${path}: other users have access to it; run chmod ${expected} on it, got mode ${got}`,
  );
}
