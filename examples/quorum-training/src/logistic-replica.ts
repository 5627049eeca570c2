import { context } from "viceroy";
import { RdmaBuffer } from "viceroy/rdma";
import { type Gradient, type Offer, ReplicaActor } from "../generated/replica.js";
import { batchOf, weights } from "./data.js";

const learningRate = 0.5;

/** Logistic regression, whose weights are in memory that other replicas can read. */
export class LogisticReplica extends ReplicaActor {
  readonly #weights = new Float32Array(weights);
  readonly #memory = RdmaBuffer.register(this.#weights);
  #step = 0;

  gradient(step: number): Gradient {
    const gradient = new Float32Array(weights);
    let loss = 0;
    const samples = batchOf(context().actor.rank.rank, step);
    for (const { inputs, label } of samples) {
      const sum = inputs.reduce((total, input, i) => total + input * this.#weights[i]!, 0);
      const likely = 1 / (1 + Math.exp(-sum));
      loss -= Math.log(label === 1 ? likely : 1 - likely) / samples.length;
      for (const [i, input] of inputs.entries()) gradient[i]! += ((likely - label) * input) / samples.length;
    }
    return { loss, gradient };
  }

  apply(step: number, mean: Float32Array): void {
    for (const [i, slope] of mean.entries()) this.#weights[i]! -= learningRate * slope;
    this.#step = step + 1;
  }

  offer(): Offer {
    return { step: this.#step, weights: this.#memory };
  }

  async catchUp({ step, weights: theirs }: Offer): Promise<number> {
    await theirs.readInto(this.#weights);
    await theirs.drop();
    this.#step = step;
    return step;
  }
}
