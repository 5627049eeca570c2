/** Starts programs that consist of one file, which their child processes run again. */
import { lazyModules } from "../../lazy-modules.js";
import { parseIdentity } from "../launch/process-backend.js";
import { allowProgramAsBootScript } from "../platform/boot-script.js";
import { boot } from "./boot.js";

/**
 * Runs the main module of a program that a bundler has put into one file, together with its actors and the generated
 * registry. Child processes and threads run the same file: there, `runProgram` executes the orders of the parent
 * instead of loading the main module. The file must import the generated registry, and do nothing else.
 *
 * @param load imports the main module. The bundler turns the import into a function call.
 * @returns a promise that resolves when the main module has been evaluated, and rejects if it throws. In a child
 * process the promise never resolves.
 *
 * @example
 * ```ts
 * import { runProgram, thisHost } from "viceroy";
 *
 * // In a program, this function is `() => import("./main.js")`.
 * runProgram(async () => {
 *   await using procs = thisHost().spawnProcs({ gpus: 4 });
 *   await procs.ready;
 * });
 * ```
 */
export async function runProgram(load: () => Promise<unknown>): Promise<void> {
  if (isChild()) {
    boot();
    await new Promise<never>(() => {});
  }
  allowProgramAsBootScript();
  await load();
}

function isChild(): boolean {
  if (parseIdentity(process.argv[2], process.argv[3]) !== undefined) return true;
  const { isMainThread, workerData } = lazyModules.workerThreads;
  return !isMainThread && (workerData as { viceroy?: unknown } | null)?.viceroy !== undefined;
}
