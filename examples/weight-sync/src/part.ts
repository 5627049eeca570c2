import { setTimeout as pause } from "node:timers/promises";
import { RdmaBuffer } from "viceroy/rdma";
import { type Lateness, type Published, TrainerActor } from "../generated/weights.js";
import { EventLoopDelay } from "./delay.js";
import { initialWeight } from "./model.js";

/**
 * Three buffers: two hold versions that others may read, in the third the next one is made. Who has been given a version reads
 * it whole or is refused: before its buffer is written to, its grant is taken back.
 */
export class WeightTrainer extends TrainerActor {
  readonly #buffers: readonly RdmaBuffer[];
  readonly #published: Published[] = [];
  readonly #delay = new EventLoopDelay();

  constructor(weights: number) {
    super();
    this.#buffers = [0, 1, 2].map(() => RdmaBuffer.allocate(4 * weights));
    floatsOf(this.#bufferOf(0)).forEach((_, i, all) => {
      all[i] = initialWeight(i);
    });
    this.#publish(0);
  }

  async step(): Promise<void> {
    const { version } = this.#published.at(-1)!;
    await train(floatsOf(this.#bufferOf(version)), floatsOf(this.#bufferOf(version + 1)));
    this.#publish(version + 1);
    if (this.#published.length <= 2) return;
    const oldest = this.#published.shift()!;
    // From here on nobody is shown what is read by it: the next step may write there.
    await this.#bufferOf(oldest.version).revoke(oldest.weights);
  }

  published(): Published[] {
    return this.#published;
  }

  lateness(): Lateness {
    return this.#delay.take();
  }

  override async cleanup(): Promise<void> {
    this.#delay.stop();
    await Promise.all(this.#buffers.map((buffer) => buffer.drop()));
  }

  #bufferOf(version: number): RdmaBuffer {
    return this.#buffers[version % this.#buffers.length]!;
  }

  #publish(version: number): void {
    this.#published.push({ version, weights: this.#bufferOf(version).grant({ access: "r" }) });
  }
}

/** What an optimizer does on another device, while the event loop waits. Here all weights grow by 1, a little at a time. */
async function train(from: Float32Array, to: Float32Array): Promise<void> {
  const atOnce = 2 ** 17;
  for (let begin = 0; begin < from.length; begin += atOnce) {
    const end = Math.min(begin + atOnce, from.length);
    for (let i = begin; i < end; i++) to[i] = from[i]! + 1;
    await pause(1);
  }
}

function floatsOf({ view }: RdmaBuffer): Float32Array {
  return new Float32Array(view.buffer, view.byteOffset, view.byteLength / 4);
}
