/**
 * The caller's own lines in errors that come from elsewhere. A call does nothing for them: a stack trace for each would cost
 * more than the call. When one fails, V8 is asked which async functions await it: that finds those which `await` the future,
 * directly or by `Promise.all` and the like, and nobody who has only called `then`, or does not await it yet.
 */
import { isRuntimeFrame } from "../../user-stack.js";
import { ActorError, SupervisionError, TimeoutError } from "../errors.js";

const nothing = (): void => {};

/** Whether the error was made when an answer came, or did not, and so knows nothing of the caller. */
export function lacksCallerStack(error: unknown): error is Error {
  return error instanceof ActorError || error instanceof SupervisionError || error instanceof TimeoutError;
}

/**
 * A promise that rejects with `error`, to resolve another one with at once: those who await that one are its callers. V8 finds
 * them from a reaction of the promise that they hang on, which they do after the first of its two steps.
 * @param found called when they have been looked for: V8 gives up at a promise that anybody else waits for, too
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

/** Ends the stack of an error with the async functions that await what this is a reaction for. */
function appendCallerStack(error: Error): void {
  const here: { stack?: unknown } = {};
  Error.captureStackTrace(here);
  try {
    // Not by the word "async": source maps may lose it. All that runs in this reaction is of the runtime.
    const lines = String(here.stack).split("\n");
    const callers = lines.filter((line) => /^\s+at /.test(line) && !isRuntimeFrame(line));
    if (callers.length === 0) return;
    // The frames that it has, if any, are those of the runtime which has made it.
    const above = error instanceof ActorError ? `${error.stack}\n    called` : `${error.name}: ${error.message}`;
    error.stack = `${above}\n${callers.join("\n")}`;
  } catch {
    // Programs can have stacks formatted as they like, and what does that may fail.
  }
}
