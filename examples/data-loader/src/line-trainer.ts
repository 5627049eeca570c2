import { context } from "viceroy";
import type { Batch, LoaderMesh } from "../generated/loader.js";
import { type Line, type Progress, TrainerActor } from "../generated/trainer.js";

const learningRate = 0.1;

/** Gradient descent on a line. The next batch is on its way while the model learns from this one. */
export class LineTrainer extends TrainerActor {
  readonly #loader: LoaderMesh;
  #coming: Promise<Batch> | undefined;

  constructor(loaders: LoaderMesh<"gpus">) {
    super();
    // A point of one mesh is a place in any other of the same extent: the loader with my own rank.
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
    const batch = this.#coming ?? this.#loader.next.callOne();
    this.#coming = this.#loader.next.callOne();
    return batch;
  }
}
