/**
 * V8's code cache of one script, kept in a directory of this user: what was compiled in one process need not be compiled
 * again in the next. A convenience that must never be in the way: whatever is wrong with a cache file, or the place for
 * it, the script is compiled as if there were none.
 *
 * V8 checks that a cache fits its own version, its flags and the length of the source, but not that the bytes are
 * intact, and it runs what they say. So a file holds them twice, its name says which script and which Node.js they belong
 * to, and neither it nor its directory is used if anyone but this user could have written it. Twice, because comparing is
 * what a starting process can do quickest: a checksum takes a module of Node.js that costs more than reading the file.
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

/** Ends a file: not all bytes of one are zero. */
const fileMark = Buffer.from("viceroy1");

/** So many files are kept; those of other versions, scripts and flags go, oldest first. */
const filesKept = 24;

/**
 * The cache's file.
 * @param script the file that is compiled; another one of the same name, or a later edit of it, has another cache
 * @param use tells caches of one script apart: what a driver runs of it is not what a child runs
 * @returns undefined if there is to be none
 */
export function cacheFilePath(script: string, use: string): string | undefined {
  if (process.env["NODE_DISABLE_COMPILE_CACHE"] || process.env["NODE_V8_COVERAGE"]) return undefined;
  const { size, mtimeMs } = statSync(script);
  const { version, arch, platform, execArgv } = process;
  const key = [script, size, mtimeMs, version, arch, platform, ...execArgv, process.env["NODE_OPTIONS"] ?? ""];
  return join(cacheDirectory(), `${basename(script)}-${use}-${version}-${hash(key.join("\0"))}`);
}

/** 64 bits of FNV-1a. */
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

/** Without a home, or where it is not ours (`sudo`), a directory of the same privacy beside other temporary files. */
function cacheDirectory(): string {
  const base = process.env["XDG_CACHE_HOME"] || (process.platform === "win32" && process.env["LOCALAPPDATA"]) || "";
  if (isAbsolute(base) && isUsableDirectory(base)) return join(base, "viceroy");
  const home = homeDirectory();
  if (isAbsolute(home) && isUsableDirectory(home)) return join(home, ".cache", "viceroy");
  return join(tmpdir(), `viceroy-cache-${process.getuid?.() ?? ""}`);
}

/** Throws, in Node.js, for a user that the system does not know: a container that runs under any number. */
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

/** Nobody else could have written it. */
function isPrivate({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** The intact content of a cache file; undefined if there is none. Never throws. */
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

/** Writes a cache file, whole or not at all. Never throws. */
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
    // It was never there, or another process was quicker.
  }
}

function removeOldest(directory: string): void {
  const files = readdirSync(directory).map((name) => join(directory, name));
  if (files.length <= filesKept) return;
  const byAge = files.map((file) => ({ file, at: lstatSync(file).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { file } of byAge.slice(filesKept)) removeFile(file);
}
