import { context } from "viceroy";
import { RdmaBuffer } from "viceroy/rdma";
import { type Description, type Gradient, type Offer, ReplicaActor } from "../generated/replica.js";
import { batchOf, weightCount } from "./data.js";
import { makeModel } from "./make-model.js";

/** A replica whose weights are in memory that other replicas can read. */
export class LogisticReplica extends ReplicaActor {
  readonly #weights = new Float32Array(weightCount);
  readonly #memory = RdmaBuffer.register(this.#weights, { access: "r" });
  readonly #model = makeModel(this.#weights);
  /** The step that comes next. */
  #step = 0;

  describe(): Description {
    return { pid: process.pid, computesWith: this.#model.computesWith };
  }

  gradient(step: number): Gradient {
    // A replica that has been restarted since the last step has the weights of the beginning.
    if (step !== this.#step)
      throw new Error(`cannot compute step ${step}: this replica has the weights of step ${this.#step}`);
    return this.#model.gradient(batchOf(context().actor.rank.rank, step));
  }

  apply(step: number, mean: Float32Array): void {
    this.#model.apply(mean);
    this.#step = step + 1;
  }

  offer(): Offer {
    return { step: this.#step, weights: this.#memory };
  }

  async catchUp({ step, weights: theirs }: Offer): Promise<void> {
    await theirs.readInto(this.#weights);
    await theirs.drop();
    this.#step = step;
  }
}
