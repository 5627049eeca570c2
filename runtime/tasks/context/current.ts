/** The context and the task that the running code belongs to. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { TaskOrigin } from "../../../generated/tasks.js";
import { type AnyTurn, currentTurn, runInTurn } from "../kernel.js";

/** A task that runs in this process, as its code and the context see it. */
export interface RunningTask {
  /** The name of the task. */
  readonly label: string;
  /** Aborted when the task is cancelled. */
  readonly signal: AbortSignal;
  /** The number of the task in the process that has started it, and those that have started that one. */
  readonly chain: readonly TaskOrigin[];
  /** Called when the task begins to wait for a result. */
  suspend(): void;
  /** Called when the task has what it waited for. */
  resume(): void;
  /** The number of waits for each result, by the numbers of the tasks that this one has started. */
  readonly awaited: Map<number, number>;
}

/** The context and the task that code belongs to. */
export interface ContextScope {
  /** The `JobContext`. */
  readonly context: object;
  readonly task: RunningTask | undefined;
}

/** A context that was activated, with the turn whose code has activated it. */
interface ActivatedScope extends ContextScope {
  readonly turn: AnyTurn | undefined;
}

const storage = new AsyncLocalStorage<ActivatedScope>();

/**
 * Returns the context and the task of the running code. The turn of a task has them, so that tasks need no storage of their own; code that
 * has activated another context since has that one.
 */
export function currentScope(): ContextScope | undefined {
  const turn = currentTurn();
  const own = turn?.scope as ContextScope | undefined;
  const activated = storage.getStore();
  return activated === undefined || (own !== undefined && activated.turn !== turn) ? own : activated;
}

/** Runs code that belongs to a context, outside of its tasks. */
export function activateContext<T>(context: object, body: () => T): T {
  return storage.run({ context, task: undefined, turn: currentTurn() }, body);
}

/** Runs code in the turn of a task. */
export function runInTask(turn: AnyTurn, scope: ContextScope, body: () => unknown): unknown {
  turn.scope = scope;
  return currentTurn() === turn ? body() : runInTurn(turn, body);
}
