/** Records the bytes of a pipe, for tests that compare bytes. */
import type { Pipe, PipeSink } from "../../../runtime/link/transport/pipe.js";

export const soon = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));

export class ByteRecorder implements PipeSink {
  /** Resolves when the pipe has ended, with the error. */
  readonly end: Promise<Error | undefined>;
  readonly #chunks: Buffer[] = [];
  readonly #memory = Buffer.alloc(64 * 1024);
  #size = 0;
  #ended: (error: Error | undefined) => void = () => {};
  #wanted: { readonly size: number; readonly reached: () => void } | undefined;

  constructor(pipe: Pipe) {
    this.end = new Promise((resolve) => {
      this.#ended = resolve;
    });
    pipe.open(this);
  }

  get all(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Resolves when a number of bytes have come in all. */
  bytes(size: number): Promise<void> {
    return new Promise((reached) => {
      this.#wanted = { size, reached };
      this.#check();
    });
  }

  buffer(): Uint8Array {
    return this.#memory;
  }

  received(n: number): void {
    this.#chunks.push(Buffer.from(this.#memory.subarray(0, n)));
    this.#size += n;
    this.#check();
  }

  closed(error?: Error): void {
    this.#ended(error);
  }

  #check(): void {
    if (this.#wanted !== undefined && this.#size >= this.#wanted.size) this.#wanted.reached();
  }
}
