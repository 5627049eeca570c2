/**
 * Loads the bundle of the runtime, once in each thread, with V8's code cache. It is built as `dist/load.cjs`, a
 * CommonJS module that the entry points of the package load first, and as a part of `dist/boot.cjs`. The result is that
 * of `require`, in less time.
 */
// Named imports: for namespace imports esbuild copies each property of the module, in every process.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { importModule } from "../proc/platform/import-module.js";
import { cacheFilePath, readCache, writeCache } from "./code-cache.js";

export { importModule };

/** The exports of the bundle (`entry.ts`). */
export type Bundle = typeof import("./entry.js");

/** The version of the package. The build replaces this name. */
declare const VICEROY_VERSION: string;

/** Time in ms after which the compiled code is stored. By then a process has compiled what its start needs. */
const storeAfter = 1000;

/** The kinds of processes that load the runtime. Drivers and child processes compile different functions, and V8 rejects the code cache of a process in a thread. */
type Use = "main" | "child" | "thread";

/**
 * The caches with which a process begins that has none of its own kind, the best one first. An early one has what a process has compiled before it did
 * anything, and is there before the others.
 */
const substitutes: Readonly<Record<Use, readonly (Use | "early")[]>> = {
  main: ["early"],
  child: ["early", "main"],
  thread: [],
};

let storeEarly: (() => void) | undefined;

/** Stores the early cache of the runtime for processes that this one starts, if there was no cache when this one started. */
export function shareCompiledCode(): void {
  storeEarly?.();
  storeEarly = undefined;
}

/** Returns the one instance of the runtime in this thread. */
export function load(use: Use = "main"): Bundle {
  const instances = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for(`viceroy.runtime/${VICEROY_VERSION}`);
  instances[key] ??= loadScript(join(__dirname, "runtime.cjs"), use);
  return instances[key] as Bundle;
}

/**
 * Runs a CommonJS module that consists of one file, and returns its exports. The result is not cached: each call runs
 * the module again.
 * @param file absolute path of an ASCII file
 */
function loadScript(file: string, use: Use): unknown {
  const cache = cacheFilePath(file, use);
  if (cache === undefined) return require(file);
  const own = readCache(cache);
  const cachedData = own ?? substituteCache(file, use);
  // The build writes ASCII only, so "latin1" avoids the cost of decoding.
  const source = wrapModule(readFileSync(file, "latin1"));
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  const isUnusable = cachedData === undefined || script.cachedDataRejected === true;
  if (isUnusable || own === undefined) storeCacheLater(script, cache);
  if (isUnusable) {
    storeEarly = () => {
      const early = cacheFilePath(file, "early");
      if (early !== undefined) writeCache(early, script.createCachedData());
    };
  }
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run.call(module.exports, module.exports, bundleRequire, module, file, dirname(file));
  return module.exports;
}

/** Returns the best cache of another kind that is there. */
function substituteCache(file: string, use: Use): Buffer | undefined {
  for (const other of substitutes[use]) {
    const cache = cacheFilePath(file, other);
    const data = cache === undefined ? undefined : readCache(cache);
    if (data !== undefined) return data;
  }
  return undefined;
}

/**
 * The `require` of the bundle. It returns functions of this module for `./load.cjs`, because child processes have
 * this code in their boot file.
 */
function bundleRequire(id: string): unknown {
  return id === "./load.cjs" ? { importModule, shareCompiledCode } : require(id);
}

/**
 * Wraps the source as Node.js wraps CommonJS modules. Line numbers stay the same; only columns of the first line
 * change.
 */
function wrapModule(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}

/**
 * Stores the code cache after `storeAfter` or at the exit. It contains the functions that have been compiled by then.
 */
function storeCacheLater(script: Script, file: string): void {
  let stored = false;
  const store = () => {
    if (stored) return;
    stored = true;
    process.off("exit", store);
    writeCache(file, script.createCachedData());
  };
  process.on("exit", store);
  const wait = () => {
    const begin = performance.now();
    // A spare has waited for its order, and begins only now.
    const isLate = () => performance.now() - begin > 2 * storeAfter;
    setTimeout(() => (isLate() ? wait() : store()), storeAfter).unref();
  };
  wait();
}
