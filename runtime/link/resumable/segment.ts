/**
 * The segments that a connection of a resumable link carries. A segment is a u32, with the kind in the upper byte and
 * the size in the lower three, followed by as many bytes. Data continues the bytes of the link where the last
 * connection ended, which may be inside a frame. The other kinds can come between any two segments, so that a large
 * message does not delay them.
 */
import { toError } from "../../../shared/text/error-message.js";
import { ProtocolError } from "../frame/frame.js";
import type { PipeSink } from "../transport/pipe.js";

export const SEGMENT_HEADER = 4;

/** The largest number of bytes of data in one segment. */
export const MAX_SEGMENT_BYTES = 1 << 20;

export const SegmentKind = {
  data: 0,
  /** u64: the number of bytes of the link that were received. */
  ack: 1,
  /** No more data will come, because the link was closed in order. The answer is an `end` segment. */
  end: 2,
  /** The link has failed. The segment holds the reason in UTF-8. */
  reset: 3,
} as const;

const ACK_BYTES = 8;
const MAX_REASON_BYTES = 512;

/**
 * Data of fewer bytes is received into the reader's buffer and copied, instead of being received directly into the
 * handler's memory.
 */
const MIN_DIRECT_BYTES = 8 * 1024;
const BUFFER_BYTES = 16 * 1024;

/** Handles the segments of a connection. An exception ends the connection and the link. */
export interface SegmentHandler {
  /** Returns the memory for the next bytes of data. */
  buffer(): Uint8Array;
  /** `n` bytes of data are in the memory that `buffer` returned. */
  data(n: number): void;
  ack(received: number): void;
  end(): void;
  reset(reason: string): void;
  /** The peer has sent invalid segments. */
  broken(error: Error): void;
  /** The connection has ended. */
  lost(error: Error | undefined): void;
}

export function writeSegmentHeader(bytes: Uint8Array, at: number, kind: number, size: number): void {
  bytes[at] = size & 0xff;
  bytes[at + 1] = (size >>> 8) & 0xff;
  bytes[at + 2] = size >>> 16;
  bytes[at + 3] = kind;
}

export function newAckSegment(received: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(SEGMENT_HEADER + ACK_BYTES);
  writeSegmentHeader(bytes, 0, SegmentKind.ack, ACK_BYTES);
  bytes.writeBigUInt64LE(BigInt(received), SEGMENT_HEADER);
  return bytes;
}

export function newEndSegment(): Uint8Array {
  const bytes = new Uint8Array(SEGMENT_HEADER);
  writeSegmentHeader(bytes, 0, SegmentKind.end, 0);
  return bytes;
}

export function newResetSegment(reason: string): Uint8Array {
  const bytes = new Uint8Array(SEGMENT_HEADER + MAX_REASON_BYTES);
  const { written } = new TextEncoder().encodeInto(reason, bytes.subarray(SEGMENT_HEADER));
  writeSegmentHeader(bytes, 0, SegmentKind.reset, written);
  return bytes.subarray(0, SEGMENT_HEADER + written);
}

/** Reads the segments of one connection. */
export class SegmentReader implements PipeSink {
  readonly #handler: SegmentHandler;
  readonly #bytes: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #fill = 0;
  /** The number of bytes of the current segment that are still to come. */
  #dataLeft = 0;
  #isDirect = false;
  #stopped = false;

  constructor(handler: SegmentHandler) {
    this.#handler = handler;
  }

  /** Stops handling segments and the end of the connection. */
  stop(): void {
    this.#stopped = true;
  }

  buffer(): Uint8Array {
    this.#isDirect = this.#dataLeft >= MIN_DIRECT_BYTES && !this.#stopped;
    if (!this.#isDirect) return this.#fill === 0 ? this.#bytes : this.#bytes.subarray(this.#fill);
    const target = this.#handler.buffer();
    return target.length > this.#dataLeft ? target.subarray(0, this.#dataLeft) : target;
  }

  received(n: number): void {
    if (this.#stopped) return;
    try {
      if (this.#isDirect) {
        this.#dataLeft -= n;
        this.#handler.data(n);
      } else this.#parse(this.#fill + n);
    } catch (error) {
      this.stop();
      this.#handler.broken(toError(error));
    }
  }

  closed(error?: Error): void {
    if (this.#stopped) return;
    this.stop();
    this.#handler.lost(error);
  }

  #parse(end: number): void {
    const bytes = this.#bytes;
    let at = 0;
    while (at < end && !this.#stopped) {
      if (this.#dataLeft > 0) {
        at += this.#copy(at, end);
        continue;
      }
      if (end - at < SEGMENT_HEADER) break;
      const size = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
      const kind = bytes[at + 3]!;
      const next = at + SEGMENT_HEADER;
      if (kind === SegmentKind.data) {
        if (size === 0 || size > MAX_SEGMENT_BYTES) throw malformedSegment(kind, size);
        this.#dataLeft = size;
        at = next;
        continue;
      }
      checkControl(kind, size);
      if (end - next < size) break;
      this.#control(kind, next, size);
      at = next + size;
    }
    if (at > 0 && at < end) bytes.copyWithin(0, at, end);
    this.#fill = end - at;
  }

  #copy(at: number, end: number): number {
    const target = this.#handler.buffer();
    const size = Math.min(this.#dataLeft, end - at, target.length);
    copySmall(this.#bytes, at, size, target);
    this.#dataLeft -= size;
    this.#handler.data(size);
    return size;
  }

  #control(kind: number, at: number, size: number): void {
    if (kind === SegmentKind.end) this.#handler.end();
    else if (kind === SegmentKind.reset) this.#handler.reset(this.#bytes.toString("utf8", at, at + size));
    else {
      const received = this.#bytes.readBigUInt64LE(at);
      if (received > BigInt(Number.MAX_SAFE_INTEGER)) throw new ProtocolError(`cannot read ack: ${received} bytes`);
      this.#handler.ack(Number(received));
    }
  }
}

/** The largest number of bytes that are copied one by one, because a native call takes longer. */
const MAX_LOOPED_BYTES = 96;

function copySmall(from: Uint8Array, at: number, size: number, to: Uint8Array): void {
  if (size > MAX_LOOPED_BYTES) to.set(from.subarray(at, at + size));
  else for (let i = 0; i < size; i++) to[i] = from[at + i]!;
}

function checkControl(kind: number, size: number): void {
  if (kind === SegmentKind.ack && size === ACK_BYTES) return;
  if (kind === SegmentKind.end && size === 0) return;
  if (kind === SegmentKind.reset && size <= MAX_REASON_BYTES) return;
  throw malformedSegment(kind, size);
}

function malformedSegment(kind: number, size: number): ProtocolError {
  return new ProtocolError(`cannot read segment: kind ${kind} cannot have ${size} bytes`);
}
