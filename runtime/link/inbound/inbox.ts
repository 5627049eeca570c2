/**
 * The receiving half of a link: memory that incoming bytes land in and frames are read out of in place. A frame that
 * doesn't fit gets memory of its own, exactly as long as its body, which bytes are then read into directly. Knows
 * lengths, not kinds.
 */
import { align8, HEADER_BYTES, ProtocolError } from "../frame/frame.js";
import {
  beginHandling,
  endHandling,
  isShared,
  memoryToReadInto,
  RECEIVE_BUFFER,
  type ReceiveMemory,
  releaseOwnMemory,
  takeOwnMemory,
} from "./receive-memory.js";

/** Takes whole frames. `bytes` and `view` are valid until it returns, unless `owned`: made for this frame alone. */
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

/** Who knows where the body of a frame belongs that is too large for the buffer. */
export interface BodyMemory {
  /** @returns memory for `size` bytes; undefined: memory of its own. @throws ProtocolError if there can be no such frame */
  memoryFor(word1: number, b: number, size: number): Uint8Array | undefined;
}

/** A body that is read into memory of its own. */
interface LargeBody {
  readonly word1: number;
  readonly a: number;
  readonly b: number;
  readonly bytes: Uint8Array;
  fill: number;
}

export class Inbox {
  /** Where the bytes of the next read land, behind those that are waiting there; undefined: none has been asked for. */
  #memory: ReceiveMemory | undefined;
  readonly #maxFrame: number;
  readonly #handler: FrameHandler & BodyMemory;
  #fill = 0;
  #large: LargeBody | undefined;
  /** Bytes of padding of a large body that are still to come. */
  #paddingLeft = 0;
  #stopped = false;

  constructor(maxFrame: number, handler: FrameHandler & BodyMemory) {
    this.#maxFrame = maxFrame;
    this.#handler = handler;
  }

  /** Where the next bytes go. */
  buffer(): Uint8Array {
    const large = this.#large;
    if (large !== undefined) return large.fill === 0 ? large.bytes : large.bytes.subarray(large.fill);
    this.#memory ??= memoryToReadInto();
    const { bytes } = this.#memory;
    return this.#fill === 0 ? bytes : bytes.subarray(this.#fill);
  }

  /** No frame is handed out any more, not even those that have come. */
  stop(): void {
    this.#stopped = true;
  }

  /** @throws ProtocolError on a length no frame can have; what the handler throws passes through */
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
    const shared = isShared(memory);
    if (shared) beginHandling();
    try {
      const at = this.#handleFrames(memory, skip, end);
      if (at >= 0) this.#keepRest(memory, at, end);
    } finally {
      if (shared) endHandling();
    }
  }

  /** What has come of a frame waits for the rest of it, in memory that nobody else reads into. */
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

  /** @returns where the frame begins that is not complete; negative: nothing more is handed out */
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
    if (rest < HEADER_BYTES || align8(view.getUint32(at, true)) <= RECEIVE_BUFFER) return at;
    this.#startLarge(memory, at, end);
    return end;
  }

  /** The frame at `at` doesn't fit: what has come of its body moves out, and the rest of it is read where it belongs. */
  #startLarge({ bytes: arrived, view }: ReceiveMemory, at: number, end: number): void {
    const size = view.getUint32(at, true) - HEADER_BYTES;
    const word1 = view.getUint32(at + 4, true);
    const b = view.getUint32(at + 12, true);
    const bytes = this.#handler.memoryFor(word1, b, size) ?? new Uint8Array(new ArrayBuffer(size));
    bytes.set(arrived.subarray(at + HEADER_BYTES, end));
    this.#large = { word1, a: view.getUint32(at + 8, true), b, bytes, fill: end - at - HEADER_BYTES };
    this.#paddingLeft = -size & 7;
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
