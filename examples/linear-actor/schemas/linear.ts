/** A layer whose weights are an actor's own. */
import type { Actor, Tensor, Uint32 } from "viceroy/schema";

export interface Linear extends Actor<[inputs: Uint32, outputs: Uint32]> {
  /** @propagate ../src/shapes.ts#answered */
  forward(batch: Tensor): Tensor;
  /**
   * The gradient of the weights, from that of what `forward` has answered.
   * @propagate ../src/shapes.ts#ofWeights
   */
  backward(batch: Tensor, gradient: Tensor): Tensor;
  learn(gradient: Tensor, rate: number): void;
  weights(): Tensor;
}
