/**
 * Whether code runs because an actor module is being loaded into a process that a program has made. Such code must not
 * spawn: a program's main module that exports an actor would run, and spawn, in each process again, for ever. What the
 * module leaves running (a timer, a promise) counts, too.
 */
import type { ActorCell } from "../../actor/cell/actor-cell.js";
import { currentTurn, ModuleLoadingTurn, runInTurn } from "../../actor/context.js";

/** Loads a module on behalf of `root`. */
export function whileLoading<T>(root: ActorCell, load: () => T): T {
  return runInTurn(new ModuleLoadingTurn(root), load) as T;
}

/** @throws Error if the calling code belongs to a module that is or was being loaded */
export function refuseWhileLoading(what: string): void {
  if (!(currentTurn() instanceof ModuleLoadingTurn)) return;
  throw new Error(
    `cannot spawn ${what} while an actor module is being loaded: every process that loads it would spawn again; move ` +
      "the actor class to a module of its own, or the spawning into an actor",
  );
}
