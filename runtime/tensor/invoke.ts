/** Calls of operations: arguments in order, and at the end an object with arguments by name. */
import { addon } from "./addon.js";
import { useCurrent } from "./recording.js";
import { enter } from "./site.js";

/**
 * @param by the function that a user has called; its caller is where the operation is called
 * @throws TypeError that names the argument which does not fit, Error with what libtorch says
 */
export function invoke(name: string, args: readonly unknown[], by: (...args: never[]) => unknown = invoke): unknown {
  useCurrent();
  enter(by);
  const last = args.at(-1);
  if (isOptions(last)) return addon().call(name, args.slice(0, -1), last);
  return addon().call(name, args, undefined);
}

function isOptions(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
