/** Two layers, in one process or shared by several: who makes them says how results of parts become the result. */
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
  readonly #sum: (part: Tensor) => Tensor;

  /** @param sum of what all processes have that share the layers */
  constructor(weights: Weights, sum: (part: Tensor) => Tensor) {
    super();
    this.first = nn.parameter(weights.first.clone());
    this.firstBias = nn.parameter(weights.firstBias.clone());
    this.second = nn.parameter(weights.second.clone());
    this.secondBias = nn.parameter(weights.secondBias.clone());
    this.#sum = sum;
  }

  /** `[rows, inputs]` to `[rows, outputs]` */
  forward(x: Tensor): Tensor {
    // A hidden unit needs one column of the first weight, and is needed by one row of the second: both can be where it is.
    const hidden = torch.relu(x.matmul(this.first).add(this.firstBias));
    // Each output is a sum over all hidden units. The bias is no part of a part: it is added once, to the sum.
    return this.#sum(hidden.matmul(this.second)).add(this.secondBias);
  }
}
