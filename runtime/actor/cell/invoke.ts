/** Calls the method of a turn, and finds out whether its result must be awaited. */
import { types } from "node:util";
import { type AnyTurn, runInTurn, runningTurn } from "../context.js";
import type { Turn } from "./turn.js";

/**
 * Calls the method of the running turn with its arguments. `startInTurn` runs this function, which is the same for all turns,
 * so that no turn needs a closure.
 */
export function invokeHandler(): unknown {
  const { cell, handler, args, replier } = runningTurn() as Turn;
  const { method } = handler;
  const self = cell.instance;
  if (replier !== undefined) return method.call(self, replier.port(), ...args);
  switch (args.length) {
    case 0:
      return method.call(self);
    case 1:
      return method.call(self, args[0]);
    case 2:
      return method.call(self, args[0], args[1]);
    default:
      return method.apply(self, args as unknown[]);
  }
}

const { then: plainThen } = Promise.prototype;

/**
 * Returns the result of user code as a promise, or undefined if the result is a plain value. A promise is returned as it
 * is. Any other object with a method `then` is wrapped in a promise, as `await` does, so that a `then` that throws, or that
 * calls back twice or at once, does no harm. This method runs in `turn`.
 *
 * @throws rethrows errors of reading the property `then`
 */
export function promiseFrom(turn: AnyTurn, value: unknown): Promise<unknown> | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  const { then } = value as Partial<PromiseLike<unknown>>;
  if (typeof then !== "function") return undefined;
  if (then === plainThen && types.isPromise(value)) return value;
  return runInTurn(turn, () => new Promise((resolve) => resolve(value))) as Promise<unknown>;
}
