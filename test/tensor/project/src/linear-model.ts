import type { Tensor } from "viceroy/tensor";
import { type Labelled, ModelActor } from "../generated/model.js";

export class LinearModel extends ModelActor {
  readonly #weights: Tensor;

  constructor(weights: Tensor) {
    super();
    this.#weights = weights;
  }

  forward(batch: Tensor): Tensor {
    return batch.matmul(this.#weights);
  }

  update(gradients: Labelled[]): Record<string, Tensor> {
    for (const { values } of gradients) if (values !== undefined) this.#weights.add_(values);
    return { weights: this.#weights };
  }
}
