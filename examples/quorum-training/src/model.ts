import type { Gradient } from "../generated/replica.js";
import type { Batch } from "./data.js";

/** Logistic regression. The weights are in memory of the replica: others read it, and `catchUp` writes to it. */
export interface Model {
  readonly computesWith: "tensors" | "typed arrays";
  /** Returns the mean loss of a batch and its gradient. */
  gradient(batch: Batch): Gradient;
  /** Makes one step of gradient descent. */
  apply(gradient: Float32Array): void;
}
