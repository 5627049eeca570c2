import { context } from "viceroy";
import type { Batch, LoaderMesh } from "../generated/loader.js";
import { type Line, type Progress, TrainerActor } from "../generated/trainer.js";

const learningRate = 0.1;

/** Fits a line by gradient descent. Requests the next batch before the model learns from the current one. */
export class LineTrainer extends TrainerActor {
  readonly #loader: LoaderMesh;
  #nextBatch: Promise<Batch> | undefined;

  constructor(loaders: LoaderMesh<"gpus">) {
    super();
    // A point of one mesh selects the same point of any mesh of equal extent: here, the loader of this rank.
    this.#loader = loaders.slice(context().actor.rank);
  }

  async train(line: Line, steps: number): Promise<Progress> {
    let { slope, offset } = line;
    let loss = 0;
    const batches: number[] = [];
    for (let step = 0; step < steps; step++) {
      const { number, inputs, outputs } = await this.#next();
      let slopeGradient = 0;
      let offsetGradient = 0;
      for (const [i, x] of inputs.entries()) {
        const error = slope * x + offset - outputs[i]!;
        slopeGradient += (2 * error * x) / inputs.length;
        offsetGradient += (2 * error) / inputs.length;
        loss += error ** 2 / inputs.length / steps;
      }
      slope -= learningRate * slopeGradient;
      offset -= learningRate * offsetGradient;
      batches.push(number);
    }
    return { line: { slope, offset }, loss, batches };
  }

  #next(): Promise<Batch> {
    const batch = this.#nextBatch ?? this.#loader.next.callOne();
    this.#nextBatch = this.#loader.next.callOne();
    return batch;
  }
}
