import { thisHost } from "viceroy";
import { RdmaBuffer, RdmaError, type Transport } from "viceroy/rdma";
import { type Found, VaultActor, type VaultMesh } from "../generated/vault.js";

/** Returns the initial value of byte `i` of the memory of a vault. */
export function pattern(i: number): number {
  return (i * 31 + (i >> 8) * 7 + 5) & 0xff;
}

export class IronVault extends VaultActor {
  #buffer: RdmaBuffer | undefined;
  #granted: RdmaBuffer | undefined;

  make(allocated: boolean, size: number, access: "r" | "rw"): RdmaBuffer {
    const buffer = allocated
      ? RdmaBuffer.allocate(size, { access })
      : RdmaBuffer.register(new Uint8Array(size), { access });
    const { view } = buffer;
    for (let i = 0; i < size; i++) view[i] = pattern(i);
    this.#buffer = buffer;
    return buffer;
  }

  grant(offset: number, length: number, access: "r" | "rw"): RdmaBuffer {
    this.#granted = this.#mine.grant({ offset, length, access });
    return this.#granted;
  }

  async revoke(whole: boolean, timeout: number): Promise<string> {
    try {
      await this.#mine.revoke(whole ? undefined : this.#granted, { timeout });
      return "";
    } catch (error) {
      return codeOf(error);
    }
  }

  async drop(): Promise<void> {
    await this.#mine.drop();
  }

  bytes(offset: number, length: number): Uint8Array {
    return this.#mine.view.slice(offset, offset + length);
  }

  fill(value: number): void {
    this.#mine.view.fill(value);
  }

  pid(): number {
    return process.pid;
  }

  block(milliseconds: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
  }

  async read(buffer: RdmaBuffer, transport: string, length: number): Promise<Found> {
    const bytes = new Uint8Array(length);
    try {
      await buffer.open({ transports: [transport as Transport] });
      await buffer.readInto(bytes);
      return { bytes, transport: String(buffer.transport) };
    } catch (error) {
      return { code: codeOf(error), message: String(error) };
    }
  }

  async readUntil(buffer: RdmaBuffer, transport: string, value: number): Promise<Found> {
    const bytes = new Uint8Array(buffer.size);
    let count = 0;
    let foreign = 0;
    try {
      await buffer.open({ transports: [transport as Transport] });
      for (;;) {
        await buffer.readInto(bytes);
        count++;
        foreign += bytes.reduce((sum, byte) => sum + (byte === value ? 0 : 1), 0);
      }
    } catch (error) {
      foreign += bytes.reduce((sum, byte) => sum + (byte === value || byte === 0 ? 0 : 1), 0);
      return { count, foreign, code: codeOf(error) };
    }
  }

  async write(buffer: RdmaBuffer, transport: string, value: number): Promise<Found> {
    try {
      await buffer.open({ transports: [transport as Transport] });
      const bytes = new Uint8Array(buffer.size).fill(value);
      for (;;) await buffer.writeFrom(bytes);
    } catch (error) {
      return { code: codeOf(error), message: String(error) };
    }
  }

  echo(buffer: RdmaBuffer): RdmaBuffer {
    return buffer;
  }

  echoAll(buffers: RdmaBuffer[]): RdmaBuffer[] {
    return buffers;
  }

  hire(): VaultMesh {
    return thisHost().spawnProcs().spawn("hired", IronVault);
  }

  get #mine(): RdmaBuffer {
    if (this.#buffer === undefined) throw new Error("there is no memory yet: call make first");
    return this.#buffer;
  }
}

function codeOf(error: unknown): string {
  return error instanceof RdmaError ? error.code : String(error);
}
