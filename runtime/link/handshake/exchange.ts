/**
 * A connection during its handshake: messages of known sizes, one after another, within a limit of time. Afterwards it is
 * a pipe like any other. What comes is only ever read into memory of the size that was asked for.
 */
import type { Clock, Timer } from "../clock.js";
import type { Pipe, PipeSink } from "../pipe.js";
import { HandshakeError } from "./errors.js";

/** A peer that goes on at once may have sent so much before its pipe is opened; an honest one waits for answers. */
const EARLY_BYTES = 4096;

interface Reading {
  readonly bytes: Uint8Array;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

export class Exchange implements Pipe, PipeSink {
  readonly #pipe: Pipe;
  readonly #timer: Timer;
  readonly #over: () => void;
  #reading: Reading | undefined;
  #fill = 0;
  readonly #early = new Uint8Array(EARLY_BYTES);
  #earlyFill = 0;
  #sink: PipeSink | undefined;
  #ended: { readonly error: Error | undefined } | undefined;

  /**
   * @param limit of the whole handshake, in ms
   * @param over called once, when the connection has ended, during the handshake or later
   */
  constructor(pipe: Pipe, clock: Clock, limit: number, over: () => void = () => {}) {
    this.#pipe = pipe;
    this.#over = over;
    this.#timer = clock.after(limit, () => {
      this.destroy(new HandshakeError("lost", `the handshake was not complete within ${limit} ms`));
    });
    pipe.open(this);
  }

  /** Whether more has come than was asked for. */
  get overrun(): boolean {
    return this.#earlyFill > 0;
  }

  /** The next `size` bytes. One at a time; rejects when the connection ends before, with HandshakeError. */
  read(size: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(lost(this.#ended.error));
        return;
      }
      const bytes = new Uint8Array(size);
      const early = Math.min(size, this.#earlyFill);
      bytes.set(this.#early.subarray(0, early));
      this.#early.copyWithin(0, early, this.#earlyFill);
      this.#earlyFill -= early;
      this.#fill = early;
      if (early === size) resolve(bytes);
      else this.#reading = { bytes, resolve, reject };
    });
  }

  send(bytes: Uint8Array): void {
    this.#pipe.write([bytes], () => {});
  }

  /** The handshake is over: no limit of time from now on. */
  settle(): Pipe {
    this.#timer.cancel();
    return this;
  }

  open(sink: PipeSink): void {
    const early = this.#early.subarray(0, this.#earlyFill);
    this.#sink = sink;
    for (let at = 0; at < early.length; ) {
      const target = sink.buffer();
      const size = Math.min(target.length, early.length - at);
      target.set(early.subarray(at, at + size));
      sink.received(size);
      at += size;
    }
    if (this.#ended !== undefined) sink.closed(this.#ended.error);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    this.#pipe.write(chunks, done);
  }

  close(): void {
    this.#timer.cancel();
    this.#pipe.close();
  }

  destroy(error?: Error): void {
    this.#timer.cancel();
    this.#pipe.destroy(error);
  }

  ref(): void {
    this.#pipe.ref();
  }

  unref(): void {
    this.#pipe.unref();
  }

  buffer(): Uint8Array {
    if (this.#sink !== undefined) return this.#sink.buffer();
    if (this.#reading !== undefined) return this.#reading.bytes.subarray(this.#fill);
    return this.#early.subarray(Math.min(this.#earlyFill, EARLY_BYTES - 1));
  }

  received(n: number): void {
    if (this.#sink !== undefined) {
      this.#sink.received(n);
      return;
    }
    const reading = this.#reading;
    if (reading === undefined) {
      this.#earlyFill += n;
      if (this.#earlyFill >= EARLY_BYTES) {
        this.destroy(new HandshakeError("protocol", "the peer has sent more than the handshake asks for"));
      }
      return;
    }
    this.#fill += n;
    if (this.#fill < reading.bytes.length) return;
    this.#reading = undefined;
    reading.resolve(reading.bytes);
  }

  closed(error?: Error): void {
    this.#timer.cancel();
    this.#ended = { error };
    this.#reading?.reject(lost(error));
    this.#reading = undefined;
    this.#over();
    this.#sink?.closed(error);
  }
}

const unexplained = "the peer has closed it; over TLS, it may not trust the certificate of this process";

function lost(error: Error | undefined): HandshakeError {
  if (error instanceof HandshakeError) return error;
  return new HandshakeError("lost", `the connection ended during the handshake: ${error?.message ?? unexplained}`, {
    cause: error,
  });
}
