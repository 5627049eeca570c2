import { RdmaBuffer } from "viceroy/rdma";
import { float, type Tensor, tensorOver } from "viceroy/tensor";
import { type Labelled, ModelActor } from "../generated/model.js";

export class LinearModel extends ModelActor {
  #weights: Tensor;

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

  expose(): RdmaBuffer {
    return RdmaBuffer.register(this.#weights.data<"float32">());
  }

  shared(size: number): RdmaBuffer {
    const buffer = RdmaBuffer.allocate(size * 4);
    const { buffer: memory, byteOffset } = buffer.view;
    this.#weights = tensorOver(new Float32Array(memory, byteOffset, size));
    return buffer;
  }

  sum(): number {
    return Number(this.#weights.sum().item());
  }

  scale(factor: number): void {
    this.#weights.mul_(float(factor));
  }
}
