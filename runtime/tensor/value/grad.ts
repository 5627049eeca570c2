/** Gradients beyond `backward`. */
import { addon } from "../operation/addon.js";
import type { Tensor } from "./tensor.js";

/** The options of {@link grad}. */
export interface GradOptions {
  /** The gradients of the outputs. Required for outputs with more than one element. */
  readonly gradients?: readonly Tensor[];
  /** Whether the graph is kept for further gradients. Default: the value of `createGraph`. */
  readonly retainGraph?: boolean;
  /** Whether the results can be differentiated themselves. Default: false. */
  readonly createGraph?: boolean;
}

/**
 * Computes the gradients of outputs with respect to inputs, without changing `grad` of any tensor.
 *
 * @param outputs one tensor or several
 * @param inputs the tensors to differentiate by
 * @param options gradients of the outputs, and what happens to the graph
 * @returns one gradient for each input; null if the outputs do not depend on the input
 */
export function grad(
  outputs: Tensor | readonly Tensor[],
  inputs: readonly Tensor[],
  { gradients, createGraph = false, retainGraph = createGraph }: GradOptions = {},
): (Tensor | null)[] {
  const all = Array.isArray(outputs) ? (outputs as readonly Tensor[]) : [outputs as Tensor];
  return addon().grad(all, inputs, gradients ?? null, retainGraph, createGraph) as (Tensor | null)[];
}

/**
 * Runs a function whose operations are not recorded for gradients.
 *
 * @param call a synchronous function
 * @returns the result of the function
 * @throws {TypeError} when the function is asynchronous
 */
export function noGrad<T>(call: () => T): T {
  const before = addon().setGradMode(false);
  try {
    const result = call();
    if (typeof (result as { then?: unknown } | undefined)?.then === "function") {
      throw new TypeError("cannot run a function without gradients that returns a promise: await outside of noGrad");
    }
    return result;
  } finally {
    addon().setGradMode(before);
  }
}
