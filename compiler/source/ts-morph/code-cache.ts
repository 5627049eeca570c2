/**
 * Loads CommonJS modules with V8's code cache, which is stored in a folder of the current user. The TypeScript compiler
 * is nine megabytes of source, and compiling it takes longer than reading a schema. The cache is optional: if a cache
 * file is missing or unusable, the script is compiled without it.
 *
 * V8 checks that a cache fits its version, its flags and the length of the source. It does not check that the bytes are
 * intact, and it executes them. Each file therefore has a checksum, and a file is not used if another user could have
 * written to it or to its folder.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import v8 from "node:v8";
import vm from "node:vm";
import zlib from "node:zlib";

type Require = (id: string) => unknown;

/**
 * Loads a CommonJS module and returns its exports.
 *
 * @param file the absolute path
 * @param require loads the modules that this one requires
 */
export function loadModule(file: string, require: Require): unknown {
  const source = `(function (exports, require, module, __filename, __dirname) { ${fs.readFileSync(file, "utf8")}\n});`;
  const cache = cacheFile(file);
  const cachedData = cache === undefined ? undefined : readCache(cache);
  const script = new vm.Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (cache !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
    // At exit, the cache also contains the functions that were compiled while the module ran.
    process.once("exit", () => writeCache(cache, script.createCachedData()));
  }
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run.call(module.exports, module.exports, require, module, file, path.dirname(file));
  return module.exports;
}

function cacheFile(script: string): string | undefined {
  if (
    typeof zlib.crc32 !== "function" ||
    process.env["NODE_DISABLE_COMPILE_CACHE"] ||
    process.env["NODE_V8_COVERAGE"]
  ) {
    return undefined;
  }
  const { size, mtimeMs } = fs.statSync(script);
  // The version tag contains V8's flags, however they were set.
  const key = [script, size, mtimeMs, process.version, process.arch, v8.cachedDataVersionTag()];
  const hash = createHash("sha256").update(key.join("\0")).digest("hex").slice(0, 16);
  return path.join(cacheFolder(), `${path.basename(script, ".js")}-${hash}`);
}

function cacheFolder(): string {
  const base = process.env["XDG_CACHE_HOME"];
  if (base !== undefined && path.isAbsolute(base)) return path.join(base, "viceroy-compiler");
  try {
    return path.join(os.homedir(), ".cache", "viceroy-compiler");
  } catch {
    // The system does not know the user, for example in a container that runs under an arbitrary user id.
    return path.join(os.tmpdir(), `viceroy-compiler-${process.getuid?.() ?? ""}`);
  }
}

function isPrivate({ uid, mode }: fs.Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** Returns the content of a cache file, or undefined if the file is missing, damaged or writable by others. */
function readCache(file: string): Buffer | undefined {
  try {
    if (!isPrivate(fs.lstatSync(path.dirname(file))) || !isPrivate(fs.lstatSync(file))) return undefined;
    const bytes = fs.readFileSync(file);
    const data = bytes.subarray(4);
    return zlib.crc32(data) === bytes.readUInt32LE(0) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a cache file atomically and removes the oldest files. */
function writeCache(file: string, data: Buffer): void {
  const unfinished = `${file}.${process.pid}`;
  try {
    const folder = path.dirname(file);
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isPrivate(fs.lstatSync(folder))) return;
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(zlib.crc32(data));
    fs.writeFileSync(unfinished, Buffer.concat([checksum, data]), { mode: 0o600, flag: "wx" });
    fs.renameSync(unfinished, file);
    removeOldest(folder);
  } catch {
    fs.rmSync(unfinished, { force: true });
  }
}

/** The number of cache files to keep: three scripts, for a few versions of Node.js and TypeScript. */
const filesKept = 18;

function removeOldest(folder: string): void {
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name));
  if (files.length <= filesKept) return;
  const byAge = files.map((file) => ({ file, at: fs.statSync(file).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { file } of byAge.slice(filesKept)) fs.rmSync(file, { force: true });
}
