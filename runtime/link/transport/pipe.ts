/**
 * A byte pipe transfers ordered bytes in both directions and reports its end. It is the interface of links to their
 * transport. Pipes know nothing of frames, and queue nothing beyond the writes that they were given.
 */

/** The reader of a pipe, which the link implements. The reader owns the memory for incoming bytes. */
export interface PipeSink {
  /** Returns the memory for the next incoming bytes, at least one byte. It is the same until `received` is called. */
  buffer(): Uint8Array;
  /** `n` bytes are at the start of the memory that `buffer()` returned last. Never throws. */
  received(n: number): void;
  /**
   * The pipe has ended. Called once.
   * @param error undefined if the peer has closed the pipe in order
   */
  closed(error?: Error): void;
}

/**
 * Delivers bytes that were read into other memory to a sink, in as many pieces as the memory of the sink needs. The
 * bytes are valid only during this call.
 */
export function deliverBytes(bytes: Uint8Array, sink: PipeSink): void {
  for (let at = 0; at < bytes.length; ) {
    const target = sink.buffer();
    const size = Math.min(target.length, bytes.length - at);
    target.set(bytes.subarray(at, at + size));
    sink.received(size);
    at += size;
  }
}

/** The number of bytes up to which a pipe may complete a write before `write` returns. */
export const SHORT_WRITE_BYTES = 16 * 1024;

/** Returns the number of bytes of all chunks. */
export function totalBytes(chunks: readonly Uint8Array[]): number {
  let size = 0;
  for (const { length } of chunks) size += length;
  return size;
}

export interface Pipe {
  /** Starts reading into `sink`. Called once; bytes that came earlier are kept for it. */
  open(sink: PipeSink): void;
  /**
   * Writes bytes, in order. The chunks must not change until `done` is called. `done` is called once, before `write`
   * returns or later, also if the pipe has ended. Two writes may complete in either order. Bytes that are written after
   * the end are dropped.
   */
  write(chunks: readonly Uint8Array[], done: () => void): void;
  /**
   * Writes the first `length` bytes at once, as far as the transport accepts them now. The pipe does not keep `bytes`.
   * The caller passes the rest to `write`. Pipes that cannot write at once have no such method.
   * @returns the number of bytes that were accepted: 0 while earlier bytes wait, and after the pipe was closed
   */
  writeNow?(bytes: Uint8Array, length: number): number;
  /** Closes the pipe after everything that was written has been handed to the transport. */
  close(): void;
  /** Closes the pipe at once. Unsent bytes are lost. */
  destroy(error?: Error): void;
  /** Makes the pipe keep the process alive. New pipes do not. */
  ref(): void;
  unref(): void;
}

/** A pipe that can stop reading, so that a peer that sends more has to wait, as connections over a network can. */
export interface PausablePipe extends Pipe {
  /** Stops reading. A few bytes may still come. */
  pause(): void;
  /** Continues to read. */
  resume(): void;
}
