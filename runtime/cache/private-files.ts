/**
 * Files of caches in a directory of this user. A process executes what it reads from a cache, so neither a file nor its
 * directory is used if another user could have written it. The cache never causes an error: a file that cannot be used
 * is the same as no file.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/**
 * Returns the cache directory. If the user has no usable home, or the home belongs to another user (`sudo`), it is a
 * private directory among the temporary files.
 */
export function cacheDirectory(): string {
  const base = process.env["XDG_CACHE_HOME"] || (process.platform === "win32" && process.env["LOCALAPPDATA"]) || "";
  if (isAbsolute(base) && isUsableDirectory(base)) return join(base, "viceroy");
  const home = homeDirectory();
  if (isAbsolute(home) && isUsableDirectory(home)) return join(home, ".cache", "viceroy");
  return join(tmpdir(), `viceroy-cache-${process.getuid?.() ?? ""}`);
}

/**
 * Returns the home directory, or an empty string. `homedir` throws for a user that the system does not know, as in a
 * container with an arbitrary user id.
 */
function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return "";
  }
}

function isUsableDirectory(directory: string): boolean {
  try {
    return isPrivate(lstatSync(directory));
  } catch {
    return false;
  }
}

/** Returns whether no other user could have written the file or directory. */
export function isPrivate({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** Returns the content of a file, or undefined if there is none that only this user can write. Never throws. */
export function readPrivateFile(file: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    if (!isPrivate(lstatSync(dirname(file)))) return undefined;
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const status = fstatSync(descriptor);
    if (!status.isFile() || !isPrivate(status)) return undefined;
    return readFileSync(descriptor);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Makes a directory, and returns whether it exists and only this user can write it. Never throws. */
export function makePrivateDirectory(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return isPrivate(lstatSync(directory));
  } catch {
    return false;
  }
}

/**
 * Writes a file completely or not at all. Never throws.
 * @param filesKept the number of files in the directory above which the oldest are removed
 */
export function writePrivateFile(file: string, data: Buffer, filesKept: number): void {
  const directory = dirname(file);
  const unfinished = `${file}.${process.pid}-${process.hrtime.bigint()}`;
  if (!makePrivateDirectory(directory)) return;
  try {
    writeFileSync(unfinished, data, { mode: 0o600, flag: "wx" });
    renameSync(unfinished, file);
    removeOldest(directory, filesKept);
  } catch {
    removeFile(unfinished);
  }
}

/** Removes a file, if it exists. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // The file did not exist, or another process has removed it.
  }
}

function removeOldest(directory: string, filesKept: number): void {
  const files = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(directory, name));
  if (files.length <= filesKept) return;
  const byAge = files.map((file) => ({ file, at: lstatSync(file).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { file } of byAge.slice(filesKept)) removeFile(file);
}
