/**
 * A byte pipe: ordered bytes in both directions and the news that it ended. All a link knows of its transport. Nothing
 * here knows frames; nothing here queues beyond what one write handed over.
 */

/** The reading side, implemented by the link: it owns the memory that incoming bytes land in. */
export interface PipeSink {
  /** Where the next incoming bytes go; at least one byte long. The same memory until `received` is called. */
  buffer(): Uint8Array;
  /** `n` bytes now stand at the start of what `buffer()` returned last. Never throws. */
  received(n: number): void;
  /** No more bytes will come or go; called once. Without `error`: the peer closed in order. */
  closed(error?: Error): void;
}

/** Hands bytes that were read elsewhere to a sink, in as many pieces as its memory takes. They need not outlast this call. */
export function deliverBytes(bytes: Uint8Array, sink: PipeSink): void {
  for (let at = 0; at < bytes.length; ) {
    const target = sink.buffer();
    const size = Math.min(target.length, bytes.length - at);
    target.set(bytes.subarray(at, at + size));
    sink.received(size);
    at += size;
  }
}

/** Bytes that a pipe may take and give back before `write` returns. */
export const SHORT_WRITE_BYTES = 16 * 1024;

/** Of all together. */
export function totalBytes(chunks: readonly Uint8Array[]): number {
  let size = 0;
  for (const { length } of chunks) size += length;
  return size;
}

export interface Pipe {
  /** Starts reading into `sink`. Called once; bytes that came earlier are kept for it. */
  open(sink: PipeSink): void;
  /**
   * Hands over bytes, in order. The chunks must stay untouched until `done` is called, which happens once, before this
   * returns or later, also when the pipe has ended meanwhile; of two writes either's may be the first. Bytes of a pipe that
   * has ended are dropped.
   */
  write(chunks: readonly Uint8Array[], done: () => void): void;
  /** Ends the pipe after everything that was written has been handed to the transport. */
  close(): void;
  /** Ends the pipe at once; what was not sent yet is lost. */
  destroy(error?: Error): void;
  /** Whether this pipe, by itself, keeps the operating-system process alive. Pipes start without doing so. */
  ref(): void;
  unref(): void;
}
