import { setTimeout as pause } from "node:timers/promises";
import { RdmaBuffer } from "viceroy/rdma";
import { type Lateness, type Published, TrainerActor } from "../generated/weights.js";
import { LoopDelayMonitor } from "./loop-delay.js";
import { initialWeight } from "./model.js";

/**
 * Holds three buffers. Two contain versions that engines may read; the next version is made in the third. A reader gets a whole version or is
 * refused, because the grant of a version is revoked before its buffer is written to.
 */
export class ModelTrainer extends TrainerActor {
  readonly #buffers: readonly RdmaBuffer[];
  readonly #published: Published[] = [];
  readonly #loopDelay = new LoopDelayMonitor();

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
    // After this no reader gets bytes by that grant, so the next step may write to the buffer.
    await this.#bufferOf(oldest.version).revoke(oldest.weights);
  }

  published(): Published[] {
    return this.#published;
  }

  lateness(): Lateness {
    return this.#loopDelay.take();
  }

  override async cleanup(): Promise<void> {
    this.#loopDelay.stop();
    await Promise.all(this.#buffers.map((buffer) => buffer.drop()));
  }

  #bufferOf(version: number): RdmaBuffer {
    return this.#buffers[version % this.#buffers.length]!;
  }

  #publish(version: number): void {
    this.#published.push({ version, weights: this.#bufferOf(version).grant({ access: "r" }) });
  }
}

/** Stands for an optimizer on another device, for which the event loop only waits. Adds 1 to all weights, in small pieces. */
async function train(from: Float32Array, to: Float32Array): Promise<void> {
  const pieceSize = 2 ** 17;
  for (let begin = 0; begin < from.length; begin += pieceSize) {
    const end = Math.min(begin + pieceSize, from.length);
    for (let i = begin; i < end; i++) to[i] = from[i]! + 1;
    await pause(1);
  }
}

function floatsOf({ view }: RdmaBuffer): Float32Array {
  return new Float32Array(view.buffer, view.byteOffset, view.byteLength / 4);
}
