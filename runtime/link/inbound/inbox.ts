/**
 * Splits the incoming bytes of a link into frames. Frames are read in place, in the memory that the bytes were received
 * into. The body of a frame that does not fit gets memory of its own, into which the bytes are received directly. This
 * file knows the length of frames, and not their kinds.
 */
import { coreContention } from "../core-contention.js";
import { align8, HEADER_BYTES, ProtocolError } from "../frame/frame.js";
import {
  beginHandling,
  endHandling,
  isShared,
  memoryToReadInto,
  type ReceiveMemory,
  releaseOwnMemory,
  SHORT_READ_BYTES,
  takeOwnMemory,
} from "./receive-memory.js";

/**
 * Handles complete frames. `bytes` and `view` are valid until `handleFrame` returns, unless `owned` is true: then they
 * belong to this frame alone.
 */
export interface FrameHandler {
  handleFrame(
    word1: number,
    a: number,
    b: number,
    bytes: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    owned: boolean,
  ): void;
}

/** Provides memory for the bodies of large frames. */
export interface BodyMemory {
  /**
   * Returns memory for a body of `size` bytes, or undefined if the inbox is to allocate it.
   * @throws ProtocolError if such a frame is invalid
   */
  memoryFor(word1: number, b: number, size: number): Uint8Array | undefined;
}

/** The body of a large frame, which has memory of its own. */
interface LargeBody {
  readonly word1: number;
  readonly a: number;
  readonly b: number;
  readonly bytes: Uint8Array;
  fill: number;
}

/** An incomplete frame of more bytes than this gets memory of its own, so that the rest of it need not be copied. */
const LARGE_FRAME_BYTES = SHORT_READ_BYTES;

export class Inbox {
  /** The memory for the next read, or undefined if none has been requested. Its first `#fill` bytes are an incomplete frame. */
  #memory: ReceiveMemory | undefined;
  readonly #maxFrame: number;
  readonly #handler: FrameHandler & BodyMemory;
  #fill = 0;
  #large: LargeBody | undefined;
  /** The number of padding bytes of a large body that are still to come. */
  #paddingLeft = 0;
  /** Whether the frame before was large. The next one may be, too, so the next read is short, because the beginning of a large frame is copied. */
  #isAfterLarge = false;
  #stopped = false;

  constructor(maxFrame: number, handler: FrameHandler & BodyMemory) {
    this.#maxFrame = maxFrame;
    this.#handler = handler;
  }

  /** Returns the memory for the next read. */
  buffer(): Uint8Array {
    const large = this.#large;
    if (large !== undefined) return large.fill === 0 ? large.bytes : large.bytes.subarray(large.fill);
    this.#memory ??= memoryToReadInto();
    const { bytes, short } = this.#memory;
    const memory = coreContention.isContended && !this.#isAfterLarge ? bytes : short;
    return this.#fill === 0 ? memory : memory.subarray(this.#fill);
  }

  /** Stops handling frames, including frames that have been received. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Handles the next `n` bytes, which are in the memory that `buffer` returned.
   * @throws ProtocolError if the length of a frame is invalid; exceptions of the handler pass through
   */
  received(n: number): void {
    const large = this.#large;
    if (large === undefined) this.#receivedSmall(this.#memory!, this.#fill + n);
    else {
      large.fill += n;
      if (large.fill === large.bytes.length) this.#endLarge(large);
    }
  }

  #receivedSmall(memory: ReceiveMemory, end: number): void {
    const skip = this.#paddingLeft;
    if (end < skip) {
      this.#keepRest(memory, 0, end);
      return;
    }
    this.#paddingLeft = 0;
    this.#isAfterLarge = false;
    const shared = isShared(memory);
    if (shared) beginHandling();
    try {
      const at = this.#handleFrames(memory, skip, end);
      if (at >= 0) this.#keepRest(memory, at, end);
    } finally {
      if (shared) endHandling();
    }
  }

  /** Keeps the beginning of an incomplete frame, in memory into which no other link reads. */
  #keepRest(memory: ReceiveMemory, at: number, end: number): void {
    const shared = isShared(memory);
    this.#fill = end - at;
    if (this.#fill > 0) {
      this.#memory = shared ? takeOwnMemory() : memory;
      if (shared || at > 0) this.#memory.bytes.set(memory.bytes.subarray(at, end));
    } else {
      this.#memory = undefined;
      if (!shared) releaseOwnMemory(memory);
    }
  }

  /**
   * Handles all complete frames.
   * @returns the offset of the incomplete frame, or a negative number if nothing more is to be handled
   */
  #handleFrames(memory: ReceiveMemory, from: number, end: number): number {
    const { bytes, view } = memory;
    const handler = this.#handler;
    let at = from;
    while (end - at >= HEADER_BYTES) {
      const length = view.getUint32(at, true);
      if (length < HEADER_BYTES || length > this.#maxFrame) this.#refuseLength(length);
      const next = at + align8(length);
      if (next > end) break;
      if (this.#stopped) return -1;
      handler.handleFrame(
        view.getUint32(at + 4, true),
        view.getUint32(at + 8, true),
        view.getUint32(at + 12, true),
        bytes,
        view,
        at + HEADER_BYTES,
        at + length,
        false,
      );
      at = next;
    }
    const rest = end - at;
    if (rest < HEADER_BYTES || align8(view.getUint32(at, true)) <= LARGE_FRAME_BYTES) return at;
    this.#startLarge(memory, at, end);
    return end;
  }

  /**
   * Starts a large frame: moves the part of its body that has come into memory of its own, where the rest is received
   * directly.
   */
  #startLarge({ bytes: arrived, view }: ReceiveMemory, at: number, end: number): void {
    const size = view.getUint32(at, true) - HEADER_BYTES;
    const word1 = view.getUint32(at + 4, true);
    const b = view.getUint32(at + 12, true);
    const bytes = this.#handler.memoryFor(word1, b, size) ?? new Uint8Array(new ArrayBuffer(size));
    bytes.set(arrived.subarray(at + HEADER_BYTES, end));
    this.#large = { word1, a: view.getUint32(at + 8, true), b, bytes, fill: end - at - HEADER_BYTES };
    this.#paddingLeft = -size & 7;
    this.#isAfterLarge = true;
  }

  #endLarge({ word1, a, b, bytes }: LargeBody): void {
    this.#large = undefined;
    if (this.#stopped) return;
    const { buffer: memory, byteOffset, length } = bytes;
    const buffer = Buffer.from(memory as ArrayBuffer, byteOffset, length);
    this.#handler.handleFrame(word1, a, b, buffer, new DataView(memory, byteOffset, length), 0, length, true);
  }

  #refuseLength(length: number): never {
    const limit = length < HEADER_BYTES ? `at least ${HEADER_BYTES}` : `at most ${this.#maxFrame}`;
    throw new ProtocolError(`cannot read frame: invalid length: expected ${limit} bytes, got ${length}`);
  }
}
