/**
 * Loads the two scripts of the runtime, each of them once in a thread, with V8's code cache. It is built as `dist/load.cjs`, a
 * CommonJS module that the entry points of the package load first, and as a part of `dist/boot.cjs`.
 */
// Named imports: for namespace imports esbuild copies each property of the module, in every process.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { importModule } from "../proc/platform/import-module.js";
import { cacheFilePath, readCache, writeCache } from "./code-cache.js";

export { importModule };

type Core = typeof import("./core.js");
type Rest = typeof import("./rest.js");
/** The exports of the runtime. */
export type Bundle = Core & Rest;

/** The version of the package. The build replaces this name. */
declare const VICEROY_VERSION: string;

const restScript = "runtime-rest.cjs";

/** The exports of the rest. Reading one of them loads the rest. */
const restParts = Object.keys({
  main: true,
  daemon: true,
  controller: true,
  jobKernel: true,
  rdma: true,
  syncKernel: true,
  tasksKernel: true,
  kernel: true,
} satisfies Record<keyof Rest, true>) as (keyof Rest)[];

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

/** Functions that store the early caches of the scripts that have been loaded without a cache. */
const storeEarly = new Set<() => void>();

/** Stores the early caches of the runtime for processes that this one starts, if there were none when this one started. */
export function shareCompiledCode(): void {
  for (const store of storeEarly) store();
  storeEarly.clear();
}

/** Returns the one instance of the runtime in this thread. */
export function load(use: Use = "main"): Bundle {
  const instances = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for(`viceroy.runtime/${VICEROY_VERSION}`);
  instances[key] ??= loadCore(use);
  return instances[key] as Bundle;
}

/** Loads what every process needs. The properties of the rest load it on first use. */
function loadCore(use: Use): Bundle {
  let rest: Rest | undefined;
  const loadRest = (): Rest => {
    rest ??= loadScript(restScript, use, { "./load.cjs": forScripts, "./runtime.cjs": core }) as Rest;
    return rest;
  };
  const forScripts = { importModule, shareCompiledCode, loadRest };
  const core = loadScript("runtime.cjs", use, { "./load.cjs": forScripts }) as Core;
  core.loadEnvironmentWith(loadRest);
  const getters = restParts.map((part) => [part, { get: () => loadRest()[part], enumerable: true }] as const);
  return Object.defineProperties({ ...core }, Object.fromEntries(getters)) as Bundle;
}

/**
 * Runs a script of the runtime, and returns its exports. The result is not kept: each call runs the script again.
 * @param name the name of a file in ASCII whose value is a function with the parameters of a CommonJS module
 * @param modules what the script gets for the modules of the runtime that it requires. This module is one of them, because child processes have
 * its code in their boot file.
 */
function loadScript(name: string, use: Use, modules: Readonly<Record<string, unknown>>): unknown {
  const file = join(__dirname, name);
  const script = compile(file, use);
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  const requireFrom = (id: string): unknown => modules[id] ?? require(id);
  run.call(module.exports, module.exports, requireFrom, module, file, __dirname);
  return module.exports;
}

function compile(file: string, use: Use): Script {
  // The build writes ASCII only, so "latin1" avoids the cost of decoding, and V8 uses the text where it is.
  const source = readFileSync(file, "latin1");
  const cache = cacheFilePath(file, use);
  if (cache === undefined) return new Script(source, { filename: file });
  const own = readCache(cache);
  const cachedData = own ?? substituteCache(file, use);
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  const isUnusable = cachedData === undefined || script.cachedDataRejected === true;
  if (isUnusable || own === undefined) storeCacheLater(script, cache);
  if (isUnusable) {
    storeEarly.add(() => {
      const early = cacheFilePath(file, "early");
      if (early !== undefined) writeCache(early, script.createCachedData());
    });
  }
  return script;
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
    // In seconds. The first use of `performance` would load modules of Node.js.
    const begin = process.uptime();
    // A spare has waited for its order, and begins only now.
    const isLate = () => (process.uptime() - begin) * 1000 > 2 * storeAfter;
    setTimeout(() => (isLate() ? wait() : store()), storeAfter).unref();
  };
  wait();
}
