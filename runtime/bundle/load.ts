/**
 * Loads the bundle of the runtime, once in each thread, with V8's code cache. Becomes `dist/load.cjs`, a CommonJS module
 * beside the bundle: what the boot file of a child process and the entry points of the package begin with. It does
 * nothing that `require` would not do, but quicker.
 */
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { cacheFile, readCache, writeCache } from "./code-cache.js";

export { importModule } from "../proc/import-module.js";

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
  instances[key] ??= loadModule(path.join(__dirname, "runtime.cjs"), use);
  return instances[key] as Bundle;
}

/**
 * The exports of a CommonJS module that consists of one file; not kept: each call runs it anew.
 * @param file absolute path; ASCII
 */
function loadModule(file: string, use: string): unknown {
  const cache = cacheFile(file, use);
  if (cache === undefined) return require(file);
  const cachedData = readCache(cache);
  // The build writes ASCII alone: no decoding.
  const source = wrapped(fs.readFileSync(file, "latin1"));
  const script = new vm.Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected === true) storeSoon(script, cache);
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run.call(module.exports, module.exports, require, module, file, path.dirname(file));
  return module.exports;
}

/** As Node.js wraps CommonJS modules: line numbers stay right, columns of the first line do not matter in a bundle. */
function wrapped(source: string): string {
  return `(function (exports, require, module, __filename, __dirname) { ${source}\n});`;
}

/** Keeps what has been compiled by then: functions that never ran are not part of a code cache. */
function storeSoon(script: vm.Script, file: string): void {
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
