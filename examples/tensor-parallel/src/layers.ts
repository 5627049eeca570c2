/** Two layers, in one process or divided between several. The caller supplies the function that sums partial results. */
import { nn, type Tensor, torch } from "viceroy/tensor";

export interface Weights {
  /** `[inputs, hidden]` */
  readonly first: Tensor;
  /** `[hidden]` */
  readonly firstBias: Tensor;
  /** `[hidden, outputs]` */
  readonly second: Tensor;
  /** `[outputs]` */
  readonly secondBias: Tensor;
}

export class Layers extends nn.Module implements Weights {
  readonly first: Tensor;
  readonly firstBias: Tensor;
  readonly second: Tensor;
  readonly secondBias: Tensor;
  readonly #sumParts: (part: Tensor) => Tensor;

  /** @param sumParts returns the sum of the partial results of all processes that share the layers */
  constructor(weights: Weights, sumParts: (part: Tensor) => Tensor) {
    super();
    this.first = nn.parameter(weights.first.clone());
    this.firstBias = nn.parameter(weights.firstBias.clone());
    this.second = nn.parameter(weights.second.clone());
    this.secondBias = nn.parameter(weights.secondBias.clone());
    this.#sumParts = sumParts;
  }

  /** Maps `[rows, inputs]` to `[rows, outputs]`. */
  forward(x: Tensor): Tensor {
    // A hidden unit uses one column of the first weight and one row of the second, so its process needs no other part of either.
    const hidden = torch.relu(x.matmul(this.first).add(this.firstBias));
    // Each output is a sum over all hidden units. The bias is added once, to the sum, and not to each partial result.
    return this.#sumParts(hidden.matmul(this.second)).add(this.secondBias);
  }
}
