import { setTimeout as delay } from "node:timers/promises";
import { context } from "viceroy";
import { type Batch, LoaderActor } from "../generated/loader.js";

/** Generates points around the line y = 3x - 2, with a delay like that of a disk. */
export class SyntheticLoader extends LoaderActor {
  readonly #size: number;
  #number = context().actor.rank.rank;
  #seed = 1 + context().actor.rank.rank;

  constructor(batchSize: number) {
    super();
    this.#size = batchSize;
  }

  async next(): Promise<Batch> {
    await delay(2);
    const number = this.#number;
    this.#number += context().actor.rank.extent.gpus ?? 1;
    const inputs = Float64Array.from({ length: this.#size }, () => 2 * this.#random() - 1);
    const outputs = inputs.map((x) => 3 * x - 2 + 0.2 * (this.#random() - 0.5));
    return { number, inputs, outputs };
  }

  /** Returns a number from 0 to 1. The sequence is the same in each run (the "minimal standard" of Park and Miller). */
  #random(): number {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647;
    return this.#seed / 2_147_483_647;
  }
}
