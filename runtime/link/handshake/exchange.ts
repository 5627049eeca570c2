/**
 * A connection during its handshake. It reads messages of known sizes, one after another, within a time limit. After
 * the handshake it is an ordinary pipe. The bytes that come during the handshake are kept in one small buffer; a peer
 * that sends more is disconnected.
 */
import type { Clock, Timer } from "../clock.js";
import { deliverBytes, type Pipe, type PipeSink } from "../transport/pipe.js";
import { HandshakeError } from "./errors.js";

/** The size of the buffer for unread bytes, which is larger than any message of the handshake. */
const EARLY_BYTES = 4096;

/** The number of bytes of one read. */
const READ_BYTES = 1024;

interface PendingRead {
  readonly size: number;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

export class HandshakeExchange implements Pipe, PipeSink {
  readonly #pipe: Pipe;
  readonly #timer: Timer;
  readonly #onEnded: () => void;
  #reading: PendingRead | undefined;
  /** The memory for reads. It is always the same, because a pipe may request the memory long before bytes come. */
  readonly #landing = new Uint8Array(READ_BYTES);
  /** The bytes that have come and were not read yet. */
  readonly #early = new Uint8Array(EARLY_BYTES);
  #earlyFill = 0;
  /** The bytes behind the last message, which belong to the user of the pipe. */
  readonly #rest: Uint8Array[] = [];
  #last = false;
  #sink: PipeSink | undefined;
  /** Whether the memory of the current read is the sink's. */
  #direct = false;
  #ended: { readonly error: Error | undefined } | undefined;
  #hasHeard = false;

  /**
   * Starts to read from a pipe.
   * @param limit the time limit of the whole handshake, in milliseconds
   * @param over called once when the connection has ended, during the handshake or later
   */
  constructor(pipe: Pipe, clock: Clock, limit: number, over: () => void = () => {}) {
    this.#pipe = pipe;
    this.#onEnded = over;
    this.#timer = clock.after(limit, () => {
      this.destroy(new HandshakeError("lost", `the handshake was not complete within ${limit} ms`));
    });
    pipe.open(this);
  }

  /** Whether the peer has closed the connection in order, before it has sent anything. */
  get wasLeft(): boolean {
    return this.#ended !== undefined && this.#ended.error === undefined && !this.#hasHeard;
  }

  /**
   * Checks that the peer has sent no more than was read.
   * @throws HandshakeError if it has
   */
  checkNothingUnread(): void {
    if (this.#earlyFill > 0) throw overrunError();
  }

  /**
   * Reads the next `size` bytes. Only one read may be pending.
   * @param last whether this is the last message of the handshake; bytes behind it belong to the user of the pipe
   * @throws HandshakeError if the connection ends before
   */
  read(size: number, last = false): Promise<Uint8Array> {
    this.#last = last;
    return new Promise((resolve, reject) => {
      this.#reading = { size, resolve, reject };
      this.#resolveRead();
      if (this.#ended !== undefined) this.#rejectRead(this.#ended.error);
    });
  }

  send(bytes: Uint8Array): void {
    this.#pipe.write([bytes], () => {});
  }

  /** Ends the handshake and its time limit. */
  complete(): Pipe {
    this.#timer.cancel();
    return this;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    for (const bytes of this.#rest.splice(0)) deliverBytes(bytes, sink);
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
    this.#direct = this.#sink !== undefined;
    return this.#sink === undefined ? this.#landing : this.#sink.buffer();
  }

  received(n: number): void {
    this.#hasHeard = true;
    const sink = this.#sink;
    if (this.#direct) {
      sink!.received(n);
      return;
    }
    const bytes = this.#landing.subarray(0, n);
    if (sink !== undefined) deliverBytes(bytes, sink);
    else if (this.#last && this.#reading === undefined) this.#rest.push(bytes.slice());
    else this.#keepEarly(bytes);
  }

  closed(error?: Error): void {
    this.#timer.cancel();
    this.#ended = { error };
    this.#rejectRead(error);
    this.#onEnded();
    this.#sink?.closed(error);
  }

  #keepEarly(bytes: Uint8Array): void {
    if (this.#earlyFill + bytes.length > EARLY_BYTES) {
      this.destroy(overrunError());
      return;
    }
    this.#early.set(bytes, this.#earlyFill);
    this.#earlyFill += bytes.length;
    this.#resolveRead();
  }

  /** Resolves the pending read if its bytes have come. */
  #resolveRead(): void {
    const reading = this.#reading;
    if (reading === undefined || this.#earlyFill < reading.size) return;
    this.#reading = undefined;
    const bytes = this.#early.slice(0, reading.size);
    if (this.#last) this.#rest.push(this.#early.slice(reading.size, this.#earlyFill));
    else this.#early.copyWithin(0, reading.size, this.#earlyFill);
    this.#earlyFill = this.#last ? 0 : this.#earlyFill - reading.size;
    reading.resolve(bytes);
  }

  #rejectRead(error: Error | undefined): void {
    this.#reading?.reject(connectionLostError(error));
    this.#reading = undefined;
  }
}

function overrunError(): HandshakeError {
  return new HandshakeError("protocol", "the peer has sent more than the handshake asks for");
}

const noReasonText = "the peer has closed it without saying why";

function connectionLostError(error: Error | undefined): HandshakeError {
  if (error instanceof HandshakeError) return error;
  return new HandshakeError("lost", `the connection ended during the handshake: ${error?.message ?? noReasonText}`, {
    cause: error,
  });
}
