/**
 * Whether code runs because an actor module is being loaded into a process that a program has made. Such code must not
 * spawn: a program's main module that exports an actor would run, and spawn, in each process again, for ever. What the
 * module leaves running (a timer, a promise) counts, too.
 */
import type { Cell } from "../actor/cell.js";
import { currentTurn, LoadingTurn, runTurn } from "../actor/context.js";

/** Loads a module on behalf of `root`. */
export function whileLoading<T>(root: Cell, load: () => T): T {
  return runTurn(new LoadingTurn(root), load) as T;
}

/** @throws Error if the calling code belongs to a module that is or was being loaded */
export function refuseWhileLoading(what: string): void {
  if (!(currentTurn() instanceof LoadingTurn)) return;
  throw new Error(
    `cannot spawn ${what} while an actor module is being loaded: every process that loads it would spawn again; move ` +
      "the actor class to a module of its own, or the spawning into an actor",
  );
}
