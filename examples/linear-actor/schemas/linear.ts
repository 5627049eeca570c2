/** A linear layer whose weights belong to an actor. */
import type { Actor, Tensor, Uint32 } from "viceroy/schema";

export interface Linear extends Actor<[inputs: Uint32, outputs: Uint32]> {
  /** @propagate ../src/shapes.ts#outputShape */
  forward(batch: Tensor): Tensor;
  /**
   * Computes the gradient of the weights from the gradient of the output of `forward`.
   * @propagate ../src/shapes.ts#weightGradientShape
   */
  backward(batch: Tensor, gradient: Tensor): Tensor;
  /** Makes one step of gradient descent. */
  learn(gradient: Tensor, rate: number): void;
  weights(): Tensor;
}
