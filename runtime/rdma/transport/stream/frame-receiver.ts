/**
 * Reads the frames of a connection for memory bytes. Frames have a fixed size, and a body may follow a frame. If the
 * pipe allows it, a body is read directly into its target memory. The target can be withdrawn at any time.
 */
import { toError } from "../../../../shared/text/error-message.js";
import type { PipeSink } from "../../../link/transport/pipe.js";

/**
 * Sizes in bytes of the buffer for frames and short bodies, and of the buffer for everything if nothing is read
 * directly.
 */
const FRAME_BUFFER_BYTES = 32 * 1024;
const COPY_BUFFER_BYTES = 128 * 1024;
/** Minimum number of bytes that are read directly. Copying fewer bytes takes less time than another system call. */
const MIN_DIRECT_BYTES = 16 * 1024;

/** The bytes that follow a frame. */
export class FrameBody {
  readonly length: number;
  /** The memory for the bytes, of the same length; undefined if the bytes are discarded. */
  target: Uint8Array | undefined;
  /** Number of bytes that have arrived. */
  received = 0;

  constructor(length: number, into: Uint8Array | undefined) {
    this.length = length;
    this.target = into;
  }
}

export interface MemoryFrameHandler {
  /**
   * Handles a frame.
   * @returns the body that follows the frame, or undefined if there is none
   * @throws Error, which ends the connection
   */
  frameReceived(view: DataView, at: number): FrameBody | undefined;
  /** Called when all bytes of a body have arrived, or at once for an empty body. */
  bodyReceived(body: FrameBody): void;
  /** Called once, when the connection has ended or a frame was invalid. */
  connectionEnded(error: Error | undefined): void;
}

export class FrameReceiver implements PipeSink {
  #frameBytes: number;
  #handler: MemoryFrameHandler;
  readonly #readsDirectly: boolean;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #fill = 0;
  /** The body that is being received, or undefined if a frame comes next. */
  #body: FrameBody | undefined;
  /** The body into whose memory the pipe reads now. */
  #lentBody: FrameBody | undefined;
  #returnListeners: (() => void)[] = [];
  #isStopped = false;

  /**
   * @param frameBytes the size of each frame
   * @param direct whether the pipe stops accessing memory that it was given when it is destroyed; bodies are then read
   * directly into their targets
   */
  constructor(frameBytes: number, handler: MemoryFrameHandler, direct: boolean) {
    this.#frameBytes = frameBytes;
    this.#handler = handler;
    this.#readsDirectly = direct;
    this.#bytes = new Uint8Array(direct ? FRAME_BUFFER_BYTES : COPY_BUFFER_BYTES);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Passes the following frames to another handler, and also the end of the connection if it has ended. */
  handOver(frameBytes: number, handler: MemoryFrameHandler): void {
    this.#frameBytes = frameBytes;
    this.#handler = handler;
    if (this.#isStopped) handler.connectionEnded(undefined);
  }

  buffer(): Uint8Array {
    const body = this.#body;
    if (
      this.#readsDirectly &&
      body !== undefined &&
      body.length - body.received >= MIN_DIRECT_BYTES &&
      canReadDirectly(body)
    ) {
      this.#lentBody = body;
      return body.target!.subarray(body.received);
    }
    return this.#fill === 0 ? this.#bytes : this.#bytes.subarray(this.#fill);
  }

  received(n: number): void {
    if (this.#isStopped) return;
    const lent = this.#lentBody;
    try {
      if (lent === undefined) this.#parse(this.#fill + n);
      else {
        this.#returnLent();
        this.#countReceived(lent, n);
      }
    } catch (error) {
      this.stop(toError(error));
    }
  }

  closed(error?: Error): void {
    this.stop(error);
  }

  /** Stops receiving, when the pipe has ended or the caller destroys it. Idempotent. */
  stop(error: Error | undefined): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#returnLent();
    this.#handler.connectionEnded(error);
  }

  /**
   * Discards the rest of a body.
   * @returns undefined if the pipe does not read into its memory; otherwise a promise that resolves when the pipe has
   * stopped doing so, because data has arrived or the pipe was destroyed
   */
  withdraw(body: FrameBody): Promise<void> | undefined {
    body.target = undefined;
    if (this.#lentBody !== body) return undefined;
    return new Promise((resolve) => this.#returnListeners.push(resolve));
  }

  #returnLent(): void {
    this.#lentBody = undefined;
    for (const resolve of this.#returnListeners.splice(0)) resolve();
  }

  #parse(end: number): void {
    let at = 0;
    while (at < end && !this.#isStopped) {
      const body = this.#body;
      if (body !== undefined) {
        const size = Math.min(end - at, body.length - body.received);
        // If user code has detached the memory, the view has no length.
        if (body.target?.length === body.length) body.target.set(this.#bytes.subarray(at, at + size), body.received);
        at += size;
        this.#countReceived(body, size);
        continue;
      }
      const size = this.#frameBytes;
      if (end - at < size) break;
      const next = this.#handler.frameReceived(this.#view, at);
      at += size;
      if (next === undefined) continue;
      this.#body = next;
      if (next.length === 0) this.#countReceived(next, 0);
    }
    if (at > 0 && at < end) this.#bytes.copyWithin(0, at, end);
    this.#fill = end - at;
  }

  #countReceived(body: FrameBody, n: number): void {
    body.received += n;
    if (body.received < body.length) return;
    this.#body = undefined;
    this.#handler.bodyReceived(body);
  }
}

/**
 * Returns whether the pipe can read into the target. Sockets can use neither a SharedArrayBuffer nor detached memory.
 */
function canReadDirectly({ target, length }: FrameBody): boolean {
  return target !== undefined && target.length === length && target.buffer instanceof ArrayBuffer;
}
