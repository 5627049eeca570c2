/**
 * Reads what comes on a connection for bulk bytes: frames of a fixed size, some with bytes behind them, which are read straight to where
 * they belong if the pipe can. That place may be taken away at any time: nothing is put there any more then.
 */
import { toError } from "../../../../shared/text/error-message.js";
import type { PipeSink } from "../../../link/transport/pipe.js";

/** Bytes that are read at a time where they don't belong: frames, what is short, and the beginning of what is not; or all of it. */
const FRAME_BUFFER_BYTES = 32 * 1024;
const COPY_BUFFER_BYTES = 128 * 1024;
/** Fewer are copied once more: another call of the system takes longer. */
const MIN_DIRECT_BYTES = 16 * 1024;

/** Bytes that stand behind a frame. */
export class FrameBody {
  readonly length: number;
  /** Where they go, exactly as many; undefined: nowhere. */
  target: Uint8Array | undefined;
  /** How many have come. */
  received = 0;

  constructor(length: number, into: Uint8Array | undefined) {
    this.length = length;
    this.target = into;
  }
}

export interface MemoryFrameHandler {
  /**
   * A frame has come.
   * @returns the bytes that follow it; undefined: none
   * @throws Error, which ends the connection
   */
  frameReceived(view: DataView, at: number): FrameBody | undefined;
  /** All bytes of a body have come; at once, if it has none. */
  bodyReceived(body: FrameBody): void;
  /** No more will come. Called once, also when a frame has broken the rules. */
  connectionEnded(error: Error | undefined): void;
}

export class FrameReceiver implements PipeSink {
  #frameBytes: number;
  #handler: MemoryFrameHandler;
  readonly #readsDirectly: boolean;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #fill = 0;
  /** What comes next; undefined: a frame. */
  #body: FrameBody | undefined;
  /** Whose memory the pipe reads into now. */
  #lentBody: FrameBody | undefined;
  #returnListeners: (() => void)[] = [];
  #isStopped = false;

  /**
   * @param frameBytes of each frame
   * @param direct whether the pipe, once destroyed, touches none of the memory that it was given: then it gets that of bodies
   */
  constructor(frameBytes: number, handler: MemoryFrameHandler, direct: boolean) {
    this.#frameBytes = frameBytes;
    this.#handler = handler;
    this.#readsDirectly = direct;
    this.#bytes = new Uint8Array(direct ? FRAME_BUFFER_BYTES : COPY_BUFFER_BYTES);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** From the next frame on another one is told; that it has ended, too, if it has. */
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

  /** Nothing more is taken from the pipe, which has ended, or is destroyed by whoever calls this. Idempotent. */
  stop(error: Error | undefined): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#returnLent();
    this.#handler.connectionEnded(error);
  }

  /**
   * What comes of a body goes nowhere from now on.
   * @returns undefined: the pipe does not read into its memory; otherwise resolves when it does not any more: when something has come,
   * or the pipe has been destroyed
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
        // Freed behind the library's back it has no length.
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

/** Memory that several threads share is not for sockets, nor is what was detached. */
function canReadDirectly({ target, length }: FrameBody): boolean {
  return target !== undefined && target.length === length && target.buffer instanceof ArrayBuffer;
}
