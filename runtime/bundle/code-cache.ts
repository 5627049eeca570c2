/**
 * V8's code cache of one script, stored in a directory of this user: later processes need not compile again what one
 * process has compiled. The cache never causes an error: if a cache file or its directory is unusable, the script is
 * compiled without a cache.
 *
 * V8 checks that a cache fits its own version, its flags and the length of the source. It does not check that the bytes
 * are intact, and it executes them. Therefore a file contains the bytes twice, its name identifies the script and the
 * version of Node.js, and neither the file nor its directory is used if another user could have written it. The bytes
 * are stored twice because a comparison is the fastest check for a starting process: a checksum needs a module of
 * Node.js whose loading costs more than reading the file.
 */
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { fnv1aText } from "../../shared/hash/fnv1a.js";
import { cacheDirectory, readPrivateFile, writePrivateFile } from "../cache/private-files.js";

/** The end of each file. It makes sure that a file of zeros is not valid. */
const fileMark = Buffer.from("viceroy1");

/** Maximum number of files. The oldest files, of other versions, scripts and flags, are removed. */
const filesKept = 48;

/**
 * Returns the path of the cache file.
 * @param script the file that is compiled; another file of the same name, or an edited one, has another cache. Trees of synced code share
 *   files by hard links: all names of one file have one cache
 * @param use distinguishes caches of one script: drivers and children execute different parts of the script,
 *   and V8 rejects the cache of a process in a thread, whose flags differ
 * @returns undefined if no cache is to be used
 */
export function cacheFilePath(script: string, use: string): string | undefined {
  if (process.env["NODE_DISABLE_COMPILE_CACHE"] || process.env["NODE_V8_COVERAGE"]) return undefined;
  const { dev, ino, birthtimeMs, size, mtimeMs } = statSync(script);
  const { version, arch, platform, execArgv } = process;
  // The number of a file that was removed is used again. Some file systems do not know when a file was made.
  const file = birthtimeMs > 0 ? `${dev}/${ino}/${birthtimeMs}` : script;
  const key = [file, size, mtimeMs, version, arch, platform, ...execArgv, process.env["NODE_OPTIONS"] ?? ""];
  return join(cacheDirectory(), `${basename(script)}-${use}-${version}-${fnv1aText(key.join("\0"))}`);
}

/** Returns the content of a cache file, or undefined if there is no intact one. Never throws. */
export function readCache(file: string): Buffer | undefined {
  const bytes = readPrivateFile(file);
  return bytes && intactContent(bytes);
}

function intactContent(bytes: Buffer): Buffer | undefined {
  const half = (bytes.length - fileMark.length) / 2;
  if (half <= 0 || !bytes.subarray(2 * half).equals(fileMark)) return undefined;
  const data = bytes.subarray(0, half);
  return data.equals(bytes.subarray(half, 2 * half)) ? data : undefined;
}

/** Writes a cache file completely or not at all. Never throws. */
export function writeCache(file: string, data: Buffer): void {
  writePrivateFile(file, Buffer.concat([data, data, fileMark]), filesKept);
}
