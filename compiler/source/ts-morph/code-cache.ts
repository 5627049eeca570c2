/**
 * Loads CommonJS modules with V8's code cache, kept in a folder of this user: the compiler is nine megabytes of source,
 * and compiling it anew takes longer than reading a schema. A convenience that is never in the way: whatever is wrong
 * with a cache file, the script is compiled as if there were none.
 *
 * V8 checks that a cache fits its version, its flags and the length of the source, not that the bytes are intact, and
 * it runs what they say. So a file carries a checksum, and neither it nor its folder is used if another user could have
 * written it.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import v8 from "node:v8";
import vm from "node:vm";
import zlib from "node:zlib";

type Require = (id: string) => unknown;

/** @param file absolute; `require` answers what it requires */
export function loadModule(file: string, require: Require): unknown {
  const source = `(function (exports, require, module, __filename, __dirname) { ${fs.readFileSync(file, "utf8")}\n});`;
  const cache = cacheFile(file);
  const cachedData = cache === undefined ? undefined : readCache(cache);
  const script = new vm.Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (cache !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
    // Functions that have not run by then would not be part of it.
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
  // The flags of V8 are in its tag, however they were set.
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
    // A user that the system does not know: a container that runs under any number.
    return path.join(os.tmpdir(), `viceroy-compiler-${process.getuid?.() ?? ""}`);
  }
}

function isPrivate({ uid, mode }: fs.Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** The intact content of a cache file; undefined if there is none. */
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

/** Whole or not at all; those of other versions go. */
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

/** Three scripts, for a few versions of Node.js and of TypeScript. */
const filesKept = 18;

function removeOldest(folder: string): void {
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name));
  if (files.length <= filesKept) return;
  const byAge = files.map((file) => ({ file, at: fs.statSync(file).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { file } of byAge.slice(filesKept)) fs.rmSync(file, { force: true });
}
