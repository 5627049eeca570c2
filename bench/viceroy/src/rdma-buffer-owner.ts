import { RdmaBuffer, type Transport } from "viceroy/rdma";
import { BufferOwnerActor } from "../generated/buffer-owner.js";

export class RdmaBufferOwner extends BufferOwnerActor {
  #buffer: RdmaBuffer | undefined;

  async create(allocated: boolean, size: number): Promise<RdmaBuffer> {
    await this.#buffer?.drop();
    this.#buffer = allocated ? RdmaBuffer.allocate(size) : RdmaBuffer.register(new Uint8Array(size));
    this.#buffer.view.fill(1);
    return this.#buffer;
  }

  handle(): RdmaBuffer {
    return this.#created;
  }

  ping(): void {}

  bytes(size: number): Uint8Array {
    return this.#created.view.subarray(0, size);
  }

  async pull(buffer: RdmaBuffer, transport: string, times: number): Promise<number> {
    const into = new Uint8Array(buffer.size).fill(2);
    await buffer.open({ transports: [transport as Transport] });
    await buffer.readInto(into);
    const begin = performance.now();
    for (let i = 0; i < times; i++) await buffer.readInto(into);
    return performance.now() - begin;
  }

  get #created(): RdmaBuffer {
    if (this.#buffer === undefined) throw new Error("no buffer has been created");
    return this.#buffer;
  }
}
