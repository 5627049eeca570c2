/**
 * Adds the stack of the caller to errors of other processes. Capturing a stack for each call would cost more than the
 * call. When a call fails, V8 is asked which async functions await its future. V8 finds functions that await it directly or
 * through `Promise.all` and the like. It does not find code that has called `then`, or that does not await the future yet.
 */
import { isRuntimeFrame } from "../../user-stack.js";
import { ActorError, SupervisionError, TimeoutError } from "../errors.js";

const nothing = (): void => {};

/** Returns whether an error was created when an answer or a timeout arrived, so that its stack lacks the caller. */
export function lacksCallerStack(error: unknown): error is Error {
  return error instanceof ActorError || error instanceof SupervisionError || error instanceof TimeoutError;
}

/**
 * Returns a promise that rejects with `error` after the stack of its callers has been added. The future must be resolved
 * with it at once, so that the functions that await the future become its callers. They are attached to the promise after
 * the first of its two steps, and V8 finds them from its second one.
 *
 * @param found called after the search. A second reaction of the promise must not be added before, because V8 then finds
 *   no caller
 */
export function rejectWithCallerStack(error: Error, found: () => void = nothing): Promise<never> {
  return Promise.resolve()
    .then(nothing)
    .then(() => {
      appendCallerStack(error);
      found();
      throw error;
    });
}

/** Appends the async functions that await the promise of this reaction to the stack of an error. */
function appendCallerStack(error: Error): void {
  const here: { stack?: unknown } = {};
  Error.captureStackTrace(here);
  try {
    // Source maps can remove the word "async", so the callers are the frames outside of the runtime.
    const lines = String(here.stack).split("\n");
    const callers = lines.filter((line) => /^\s+at /.test(line) && !isRuntimeFrame(line));
    if (callers.length === 0) return;
    // The frames of other errors belong to the runtime, which has created the errors.
    const above = error instanceof ActorError ? `${error.stack}\n    called` : `${error.name}: ${error.message}`;
    error.stack = `${above}\n${callers.join("\n")}`;
  } catch {
    // A program can replace the formatting of stacks, and its function can throw.
  }
}
