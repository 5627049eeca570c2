/** Calling the method of a turn. One function for all turns, so that none needs a closure. */
import { running } from "./context.js";
import type { Turn } from "./turn.js";

/** Run by `runTurn`: calls the method of the running turn with its arguments. */
export function invoke(): unknown {
  const { cell, handler, args, replier } = running() as Turn;
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

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as PromiseLike<unknown>).then === "function";
}
