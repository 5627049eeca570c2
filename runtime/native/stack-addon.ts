/**
 * The interface of the addon `native/stack`, and its lookup. The addon samples stacks, so that the call site of a recorded
 * operation is found faster (docs/decisions/0230). It is built for one version of Node.js, and nothing needs it.
 */
import { type AddonLookup, findAddon } from "./find-addon.js";

/** The address of a structure of the addon (native/stack_sampler.h), for the addon `tensor`. */
export interface StackSampler {
  readonly __sampler: unique symbol;
}

export interface StackAddon {
  /** Samples the stack of the thread that has loaded the addon. */
  readonly sampler: StackSampler;
}

/** Returns the addon, or the reason why there is none. Called once per thread, when tensors are first used. */
export function stackAddonState(): AddonLookup<StackAddon> {
  return findAddon<StackAddon>("stack");
}
