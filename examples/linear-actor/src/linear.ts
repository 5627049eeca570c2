import { float, type Tensor, torch } from "viceroy/tensor";
import { LinearActor } from "../generated/linear.js";

export class LinearLayer extends LinearActor {
  readonly #weights: Tensor;

  constructor(inputs: number, outputs: number) {
    super();
    this.#weights = torch.zeros([inputs, outputs]);
  }

  forward(batch: Tensor): Tensor {
    return batch.matmul(this.#weights);
  }

  backward(batch: Tensor, gradient: Tensor): Tensor {
    return batch.t().matmul(gradient);
  }

  learn(gradient: Tensor, rate: number): void {
    this.#weights.sub_(gradient.mul(float(rate)));
  }

  weights(): Tensor {
    return this.#weights;
  }
}
