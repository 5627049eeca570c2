/** The context and the task that the running code belongs to. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { TaskOrigin } from "../../../generated/tasks.js";

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

/** What code that runs for a context can find out. */
export interface ContextScope {
  /** The `JobContext`. */
  readonly context: object;
  readonly task: RunningTask | undefined;
}

const storage = new AsyncLocalStorage<ContextScope>();

/** Returns the context and the task of the running code. */
export function currentScope(): ContextScope | undefined {
  return storage.getStore();
}

/** Runs code that belongs to a context. */
export function runInScope<T>(scope: ContextScope, body: () => T): T {
  return storage.run(scope, body);
}
