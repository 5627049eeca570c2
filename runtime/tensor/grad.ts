/** Gradients beyond `backward`. */
import { addon } from "./addon.js";
import type { Tensor } from "./tensor.js";

export interface GradOptions {
  /** Gradients of the outputs; needed for those with more than one element. */
  readonly gradients?: readonly Tensor[];
  readonly retainGraph?: boolean;
  /** The results can be differentiated themselves. */
  readonly createGraph?: boolean;
}

/** Gradients of outputs with respect to inputs; null for an input that they do not depend on. Leaves `grad` alone. */
export function grad(
  outputs: Tensor | readonly Tensor[],
  inputs: readonly Tensor[],
  { gradients, createGraph = false, retainGraph = createGraph }: GradOptions = {},
): (Tensor | null)[] {
  const all = Array.isArray(outputs) ? (outputs as readonly Tensor[]) : [outputs as Tensor];
  return addon().grad(all, inputs, gradients ?? null, retainGraph, createGraph) as (Tensor | null)[];
}

/**
 * Runs code whose operations are not remembered for gradients.
 * @throws TypeError for code that goes on after it has returned: other code would be meant as well
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
