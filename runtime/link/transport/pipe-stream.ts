/** A pipe as a stream of Node.js, for code that needs one, such as TLS. A reader that is slow pauses the pipe. */
import { Duplex } from "node:stream";
import type { PausablePipe } from "./pipe.js";

const READ_BYTES = 32 * 1024;

export class PipeStream extends Duplex {
  readonly #pipe: PausablePipe;

  /** Starts reading from a pipe that is not open yet. */
  constructor(pipe: PausablePipe) {
    // A pipe has ended when its peer has closed it. TLS over the stream then ends, too.
    super({ allowHalfOpen: false });
    this.#pipe = pipe;
    const memory = Buffer.allocUnsafeSlow(READ_BYTES);
    pipe.open({
      buffer: () => memory,
      received: (n) => {
        if (!this.push(Buffer.from(memory.subarray(0, n)))) pipe.pause();
      },
      closed: (error) => {
        if (error === undefined) this.push(null);
        else this.destroy(error);
      },
    });
  }

  override _read(): void {
    this.#pipe.resume();
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.#pipe.write([chunk], done);
  }

  override _writev(chunks: readonly { readonly chunk: Uint8Array }[], done: () => void): void {
    this.#pipe.write(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _final(done: () => void): void {
    this.#pipe.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#pipe.destroy(error ?? undefined);
    done(error);
  }
}
