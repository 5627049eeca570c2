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
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";

/** The end of each file. It makes sure that a file of zeros is not valid. */
const fileMark = Buffer.from("viceroy1");

/** Maximum number of files. The oldest files, of other versions, scripts and flags, are removed. */
const filesKept = 24;

/**
 * Returns the path of the cache file.
 * @param script the file that is compiled; another file of the same name, or an edited one, has another cache
 * @param use distinguishes caches of one script: drivers and children execute different parts of the script
 * @returns undefined if no cache is to be used
 */
export function cacheFilePath(script: string, use: string): string | undefined {
  if (process.env["NODE_DISABLE_COMPILE_CACHE"] || process.env["NODE_V8_COVERAGE"]) return undefined;
  const { size, mtimeMs } = statSync(script);
  const { version, arch, platform, execArgv } = process;
  const key = [script, size, mtimeMs, version, arch, platform, ...execArgv, process.env["NODE_OPTIONS"] ?? ""];
  return join(cacheDirectory(), `${basename(script)}-${use}-${version}-${hash(key.join("\0"))}`);
}

/** Returns the 64-bit FNV-1a hash of a text, as 16 hex digits. */
function hash(text: string): string {
  let low = 0x84222325;
  let high = 0xcbf29ce4;
  for (let i = 0; i < text.length; i++) {
    low ^= text.charCodeAt(i);
    const product = (low >>> 0) * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) | 0;
    low = product | 0;
  }
  return [high, low].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/**
 * Returns the cache directory. If the user has no usable home, or the home belongs to another user (`sudo`), it is a
 * private directory among the temporary files.
 */
function cacheDirectory(): string {
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
function isPrivate({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** Returns the content of a cache file, or undefined if there is no intact one. Never throws. */
export function readCache(file: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    if (!isPrivate(lstatSync(dirname(file)))) return undefined;
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const status = fstatSync(descriptor);
    if (!status.isFile() || !isPrivate(status)) return undefined;
    return intactContent(readFileSync(descriptor));
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function intactContent(bytes: Buffer): Buffer | undefined {
  const half = (bytes.length - fileMark.length) / 2;
  if (half <= 0 || !bytes.subarray(2 * half).equals(fileMark)) return undefined;
  const data = bytes.subarray(0, half);
  return data.equals(bytes.subarray(half, 2 * half)) ? data : undefined;
}

/** Writes a cache file completely or not at all. Never throws. */
export function writeCache(file: string, data: Buffer): void {
  const directory = dirname(file);
  const unfinished = `${file}.${process.pid}-${process.hrtime.bigint()}`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (!isPrivate(lstatSync(directory))) return;
    writeFileSync(unfinished, Buffer.concat([data, data, fileMark]), { mode: 0o600, flag: "wx" });
    renameSync(unfinished, file);
    removeOldest(directory);
  } catch {
    removeFile(unfinished);
  }
}

function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // The file did not exist, or another process has removed it.
  }
}

function removeOldest(directory: string): void {
  const files = readdirSync(directory).map((name) => join(directory, name));
  if (files.length <= filesKept) return;
  const byAge = files.map((file) => ({ file, at: lstatSync(file).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { file } of byAge.slice(filesKept)) removeFile(file);
}
