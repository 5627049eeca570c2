import { RdmaBuffer, type Transport } from "viceroy/rdma";
import { KeeperActor } from "../generated/keeper.js";

export class BookKeeper extends KeeperActor {
  #buffer: RdmaBuffer | undefined;

  async make(allocated: boolean, size: number): Promise<RdmaBuffer> {
    await this.#buffer?.drop();
    this.#buffer = allocated ? RdmaBuffer.allocate(size) : RdmaBuffer.register(new Uint8Array(size));
    this.#buffer.view.fill(1);
    return this.#buffer;
  }

  lend(): RdmaBuffer {
    return this.#mine;
  }

  nothing(): void {}

  bytes(size: number): Uint8Array {
    return this.#mine.view.subarray(0, size);
  }

  async pull(buffer: RdmaBuffer, transport: string, times: number): Promise<number> {
    const into = new Uint8Array(buffer.size).fill(2);
    await buffer.open({ transports: [transport as Transport] });
    await buffer.readInto(into);
    const begin = performance.now();
    for (let i = 0; i < times; i++) await buffer.readInto(into);
    return performance.now() - begin;
  }

  get #mine(): RdmaBuffer {
    if (this.#buffer === undefined) throw new Error("there is no memory yet");
    return this.#buffer;
  }
}
