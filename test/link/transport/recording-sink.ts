import type { PipeSink } from "../../../runtime/link/transport/pipe.js";

/** A sink that records the bytes and the end of its pipe. Its memory is eight bytes long. */
export class RecordingSink implements PipeSink {
  text = "";
  readonly ends: string[] = [];
  onBytes: () => void = () => {};
  readonly #memory = Buffer.alloc(8);

  buffer(): Uint8Array {
    return this.#memory;
  }
  received(n: number): void {
    this.text += this.#memory.toString("latin1", 0, n);
    this.onBytes();
  }
  closed(error?: Error): void {
    this.ends.push(error?.message ?? "in order");
  }
}
