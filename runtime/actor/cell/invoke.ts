/** Calling the method of a turn, and telling whether what it returned is a value or has to be awaited. */
import { types } from "node:util";
import { type AnyTurn, runInTurn, runningTurn } from "../context.js";
import type { Turn } from "./turn.js";

/**
 * Run by `runInTurn`: calls the method of the running turn with its arguments. One function for all turns, so that none
 * needs a closure.
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
 * Returns the promise of what user code returned, or undefined if that is a value. A promise is returned as it is. Any
 * other object with a `then` is wrapped in one, so that a `then` which throws, or calls back twice, or calls back at once,
 * does no more harm than it does to `await`; it is called in `turn`.
 * @throws what reading `then` throws
 */
export function promiseFrom(turn: AnyTurn, value: unknown): Promise<unknown> | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  const { then } = value as Partial<PromiseLike<unknown>>;
  if (typeof then !== "function") return undefined;
  if (then === plainThen && types.isPromise(value)) return value;
  return runInTurn(turn, () => new Promise((resolve) => resolve(value))) as Promise<unknown>;
}
