/** Calls operations with positional arguments and an optional last object of named arguments. */

import { enterOperation } from "../call-site.js";
import { addon } from "./addon.js";
import { activateCurrentRecording } from "./recording.js";
import { requireLibtorchVersion } from "./required-version.js";

/** An operation of libtorch or Viceroy, by its qualified name. It is looked up in the addon by the first call. */
export class TensorOperation {
  readonly name: string;
  #number: number | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** The number of the operation in the addon. @throws {TypeError} when there is no operation of this name */
  get number(): number {
    if (this.#number === undefined) {
      requireLibtorchVersion(this.name);
      this.#number = addon().operationNumber(this.name);
    }
    return this.#number;
  }
}

/**
 * Calls an operation.
 *
 * @param by the function that the user called; its caller is the call site
 * @throws {TypeError} when an argument does not fit
 * @throws {Error} when libtorch refuses the call
 */
export function callOperation(
  operation: TensorOperation,
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
