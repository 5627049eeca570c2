import { float, grad, noGrad, type Tensor, TensorScope, tensorOver, torch } from "viceroy/tensor";
import type { Gradient } from "../generated/replica.js";
import { type Batch, learningRate } from "./data.js";
import type { Model } from "./model.js";

/** Computes with libtorch, and lets it derive the gradient. */
export class TensorModel implements Model {
  readonly computesWith = "tensors";
  readonly #weights: Tensor;

  /**
   * @param weights memory that the tensor of the weights shares
   * @throws TensorError where libtorch is not installed
   */
  constructor(weights: Float32Array) {
    this.#weights = tensorOver(weights, { requiresGrad: true });
  }

  gradient({ inputs, labels }: Batch): Gradient {
    using _ = new TensorScope();
    const logits = tensorOver(inputs, { shape: [labels.length, inputs.length / labels.length] }).matmul(this.#weights);
    const loss = torch.binary_cross_entropy_with_logits(logits, tensorOver(labels));
    const [gradient] = grad(loss, [this.#weights]);
    // The scope disposes of the tensor, whose memory `data` returns.
    return { loss: Number(loss.item()), gradient: gradient!.data<"float32">().slice() };
  }

  apply(gradient: Float32Array): void {
    using _ = new TensorScope();
    noGrad(() => this.#weights.sub_(tensorOver(gradient).mul(float(learningRate))));
  }
}
