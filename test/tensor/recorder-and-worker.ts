/** A controller and a worker in one process: what is recorded here is executed on the addon's stream, as it would be elsewhere. */

import { type Tensor, tensor } from "../../runtime/tensor/index.js";
import { addon } from "../../runtime/tensor/operation/addon.js";
import {
  beginRecording,
  endRecording,
  type Recording,
  runWithRecording,
} from "../../runtime/tensor/operation/recording.js";

export class RecorderAndWorker implements Recording {
  readonly recorder = addon().newRecorder();
  readonly stream;

  constructor(rank = 0) {
    this.stream = addon().newStream(rank, 1, false, "cpu", rank);
    beginRecording(this);
  }

  check(): void {}
  recorded(): void {}
  seed(seed: number, ranks: boolean): void {
    addon().seedRanks(this.recorder, seed, ranks);
  }

  run<T>(call: () => T): T {
    return runWithRecording(this, call);
  }

  take(): Uint8Array {
    return addon().takeCommands(this.recorder);
  }

  submit(commands = this.take()): Promise<void> {
    return addon().submitCommands(this.stream, commands);
  }

  reference(of: Tensor): number {
    return addon().recordedReferenceOf(of)![1];
  }

  /** What the worker has for a tensor that was recorded. */
  async fetch(recorded: Tensor): Promise<Tensor> {
    await this.submit();
    return (await addon().fetchTensor(this.stream, this.reference(recorded))) as Tensor;
  }

  /** A tensor of this process becomes one of the worker. */
  send(values: Parameters<typeof tensor>[0]): Tensor {
    return this.run(() => tensor(values));
  }

  counts() {
    return addon().streamStats(this.stream);
  }

  close(): void {
    addon().closeStream(this.stream);
    endRecording(this);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
