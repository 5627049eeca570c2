/**
 * Detects code that runs because an actor module is being loaded into a child process. Such code must not spawn: if a
 * program's main module exports an actor, the module runs, and would spawn, in each child process again, without end.
 * Code that the module leaves running (a timer, a promise) also counts.
 */

import { currentTurn, ModuleLoadingTurn, runInTurn } from "../../actor/context.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";

/** Loads a module on behalf of `root`. */
export function whileLoading<T>(root: LocalActor, load: () => T): T {
  return runInTurn(new ModuleLoadingTurn(root), load) as T;
}

/** @throws Error if the calling code belongs to a module that is being loaded or was left running by one */
export function refuseWhileLoading(what: string): void {
  if (!(currentTurn() instanceof ModuleLoadingTurn)) return;
  throw new Error(
    `cannot spawn ${what} while an actor module is being loaded: every process that loads it would spawn again; move ` +
      "the actor class to a module of its own, or the spawning into an actor",
  );
}
