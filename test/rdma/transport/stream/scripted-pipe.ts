/** A pipe whose other end is the test, which sends and checks every byte. */
import type { Pipe, PipeSink } from "../../../../runtime/link/transport/pipe.js";
import type { MemoryHandle } from "../../../../runtime/rdma/grant/memory-handle.js";

/** A handle of a process that does not exist. */
export const handle: MemoryHandle = {
  proc: 1n,
  location: "",
  process: { machine: 2n, pid: 3, started: 4n, table: -1 },
  slot: 5,
  generation: 1,
  nonce: [5n, 6n],
  length: 8,
  access: "rw",
  transportParts: {},
};

export const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** One end of a pipe. The test is the other end. */
export class ScriptedPipe implements Pipe {
  readonly sent: Uint8Array[] = [];
  destroyed = false;
  why: Error | undefined;
  /** Whether written chunks are taken at once. */
  takesWrites = true;
  readonly #taken: (() => void)[] = [];
  #sink: PipeSink | undefined;
  /** The buffer of the sink, until data arrives. */
  target: Uint8Array | undefined;

  open(sink: PipeSink): void {
    this.#sink = sink;
    this.target = sink.buffer();
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    this.sent.push(...chunks);
    if (this.takesWrites) queueMicrotask(done);
    else this.#taken.push(done);
  }

  close(): void {}

  destroy(error?: Error): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.why = error;
    for (const done of this.#taken.splice(0)) queueMicrotask(done);
    queueMicrotask(() => this.#sink?.closed(error));
  }

  ref(): void {}

  unref(): void {}

  /** Delivers bytes of the peer. */
  receive(...chunks: readonly Uint8Array[]): void {
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length && !this.destroyed; ) {
        const size = Math.min(this.target!.length, chunk.length - at);
        this.target!.set(chunk.subarray(at, at + size));
        at += size;
        this.#sink!.received(size);
        this.target = this.#sink!.buffer();
      }
    }
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.sent);
  }
}
