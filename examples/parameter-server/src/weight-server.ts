import { RdmaBuffer } from "viceroy/rdma";
import { ParameterServerActor } from "../generated/training.js";

export class WeightServer extends ParameterServerActor {
  readonly #weights: RdmaBuffer;
  readonly #gradients: RdmaBuffer[];

  constructor(weights: number, workers: number) {
    super();
    this.#weights = RdmaBuffer.allocate(4 * weights);
    this.#gradients = Array.from({ length: workers }, () => RdmaBuffer.allocate(4 * weights));
  }

  weights(): RdmaBuffer {
    // The holder of this handle can read the weights but cannot change them.
    return this.#weights.grant({ access: "r" });
  }

  gradients(worker: number): RdmaBuffer {
    const buffer = this.#gradients[worker];
    if (buffer === undefined) throw new RangeError(`there is no worker ${worker}`);
    return buffer;
  }

  apply(worker: number): void {
    const weights = floatsOf(this.#weights);
    const gradients = floatsOf(this.gradients(worker));
    for (let i = 0; i < weights.length; i++) weights[i]! += gradients[i]!;
  }

  range(): [number, number] {
    const weights = floatsOf(this.#weights);
    let smallest = Number.POSITIVE_INFINITY;
    let largest = Number.NEGATIVE_INFINITY;
    for (const weight of weights) {
      smallest = Math.min(smallest, weight);
      largest = Math.max(largest, weight);
    }
    return [smallest, largest];
  }

  override async cleanup(): Promise<void> {
    await Promise.all([this.#weights, ...this.#gradients].map((buffer) => buffer.drop()));
  }
}

function floatsOf({ view }: RdmaBuffer): Float32Array {
  return new Float32Array(view.buffer, view.byteOffset, view.byteLength / 4);
}
