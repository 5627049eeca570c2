/**
 * Loads the bundle of the runtime, once in each thread, with V8's code cache. Becomes `dist/load.cjs`, a CommonJS module
 * beside the bundle, with which the entry points of the package begin, and part of `dist/boot.cjs`. It does nothing that
 * `require` would not do, but quicker.
 */
// By name: esbuild copies the modules that are imported as a whole, property by property, in every process.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { importModule } from "../proc/platform/import-module.js";
import { cacheFilePath, readCache, writeCache } from "./code-cache.js";

export { importModule };

/** The exports of the bundle (entry.ts). */
export type Bundle = typeof import("./entry.js");

/** Replaced by the build with the package's version. */
declare const VICEROY_VERSION: string;

/** How long a process runs before what it compiled is kept: it has then compiled what its start takes. In ms. */
const storeAfter = 1000;

/**
 * The one instance of the runtime in this thread.
 * @param use what the process is: code caches of drivers and of child processes differ in what they hold
 */
export function load(use: "main" | "child" = "main"): Bundle {
  const instances = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for(`viceroy.runtime/${VICEROY_VERSION}`);
  instances[key] ??= loadScript(join(__dirname, "runtime.cjs"), use);
  return instances[key] as Bundle;
}

/**
 * The exports of a CommonJS module that consists of one file; not kept: each call runs it anew.
 * @param file absolute path; ASCII
 */
function loadScript(file: string, use: string): unknown {
  const cache = cacheFilePath(file, use);
  if (cache === undefined) return require(file);
  const cachedData = readCache(cache);
  // The build writes ASCII alone: no decoding.
  const source = wrapModule(readFileSync(file, "latin1"));
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected === true) storeCacheLater(script, cache);
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run.call(module.exports, module.exports, bundleRequire, module, file, dirname(file));
  return module.exports;
}

/** What the bundle leaves to this module is given to it: a child process has it in its boot file, not in load.cjs. */
function bundleRequire(id: string): unknown {
  return id === "./load.cjs" ? { importModule } : require(id);
}

/** As Node.js wraps CommonJS modules: line numbers stay right, columns of the first line do not matter in a bundle. */
function wrapModule(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}

/** Keeps what has been compiled by then: functions that never ran are not part of a code cache. */
function storeCacheLater(script: Script, file: string): void {
  let stored = false;
  const store = () => {
    if (stored) return;
    stored = true;
    process.off("exit", store);
    writeCache(file, script.createCachedData());
  };
  process.on("exit", store);
  setTimeout(store, storeAfter).unref();
}
