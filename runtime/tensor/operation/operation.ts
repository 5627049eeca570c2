/** Calls of operations: arguments in order, and at the end an object with arguments by name. */

import { enterOperation } from "../call-site.js";
import { addon } from "./addon.js";
import { activateCurrentRecording } from "./recording.js";
import { requireLibtorchVersion } from "./required-version.js";

/** One of libtorch's, or of ours, by its name with namespace; the addon is asked for it when it is first called. */
export class Operation {
  readonly name: string;
  #number: number | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** By which the addon knows it. @throws TypeError if there is none of this name */
  get number(): number {
    if (this.#number === undefined) {
      requireLibtorchVersion(this.name);
      this.#number = addon().operationNumber(this.name);
    }
    return this.#number;
  }
}

/**
 * @param by the function that a user has called; its caller is where the operation is called
 * @throws TypeError that names the argument which does not fit, Error with what libtorch says
 */
export function callOperation(
  operation: Operation,
  args: readonly unknown[],
  by: (...args: never[]) => unknown = callOperation,
): unknown {
  activateCurrentRecording();
  enterOperation(by);
  const last = args.at(-1);
  if (isOptions(last)) return addon().call(operation.number, last, ...args.slice(0, -1));
  return addon().call(operation.number, undefined, ...args);
}

function isOptions(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
