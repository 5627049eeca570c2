/** Workers of one process that have lines to each other: what they are told is written here, and need be nothing that a controller says. */
import type { NativePeer } from "../../runtime/native/tensor-addon.js";
import { type Tensor, threads } from "../../runtime/tensor/index.js";
import { addon } from "../../runtime/tensor/operation/addon.js";
import { CommandBuilder } from "./command-builder.js";

export class WorkerGroup {
  readonly streams;
  readonly ends: NativePeer[];

  readonly ranks: number;

  constructor(ranks = 2) {
    this.ranks = ranks;
    threads(1);
    this.streams = Array.from({ length: ranks }, (_, rank) => addon().newStream(rank, 1, false, "cpu", rank));
    this.ends = this.streams.map((stream, rank) => addon().offerCommunicator(stream, rank, ranks));
  }

  async join(
    extent: readonly number[] = [this.ranks],
    ends: readonly (NativePeer | Uint8Array)[] = this.ends,
  ): Promise<void> {
    await Promise.all(this.streams.map((stream) => addon().connectCommunicator(stream, extent, ends, false)));
  }

  /** Each rank gets a tensor of float32 of its own as number 1, and then the commands of its rank. @returns tensor 2 of each, or what is wrong */
  async run(commands: (rank: number) => CommandBuilder): Promise<(Tensor | string)[]> {
    return Promise.all(
      this.streams.map(async (stream, rank) => {
        try {
          await addon().submitCommands(stream, new CommandBuilder().put(1, rank + 1, 2).done());
          await addon().submitCommands(stream, commands(rank).done());
          return (await addon().fetchTensor(stream, 2)) as Tensor;
        } catch (error) {
          return (error as Error).message;
        }
      }),
    );
  }

  [Symbol.dispose](): void {
    for (const stream of this.streams) addon().closeStream(stream);
  }
}
