/**
 * Reads what comes on a connection for bulk bytes: frames of a fixed size, some with bytes behind them, which are read straight to where
 * they belong if the pipe can. That place may be taken away at any time: nothing is put there any more then.
 */
import type { PipeSink } from "../../link/pipe.js";

/** Bytes that are read at a time where they don't belong: frames, what is short, and the beginning of what is not; or all of it. */
const BUFFER = 32 * 1024;
const BUFFER_OF_ALL = 128 * 1024;
/** Fewer are copied once more: another call of the system takes longer. */
const DIRECT = 16 * 1024;

/** Bytes that stand behind a frame. */
export class Body {
  readonly length: number;
  /** Where they go, exactly as many; undefined: nowhere. */
  into: Uint8Array | undefined;
  /** How many have come. */
  received = 0;

  constructor(length: number, into: Uint8Array | undefined) {
    this.length = length;
    this.into = into;
  }
}

export interface FrameHandler {
  /**
   * A frame has come.
   * @returns the bytes that follow it; undefined: none
   * @throws Error, which ends the connection
   */
  frame(view: DataView, at: number): Body | undefined;
  /** All bytes of a body have come; at once, if it has none. */
  complete(body: Body): void;
  /** No more will come. Called once, also when a frame has broken the rules. */
  ended(error: Error | undefined): void;
}

export class Incoming implements PipeSink {
  #frameBytes: number;
  #handler: FrameHandler;
  readonly #direct: boolean;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #fill = 0;
  /** What comes next; undefined: a frame. */
  #body: Body | undefined;
  /** Whose memory the pipe reads into now. */
  #lent: Body | undefined;
  #returned: (() => void)[] = [];
  #over = false;

  /**
   * @param frameBytes of each frame
   * @param direct whether the pipe, once destroyed, touches none of the memory that it was given: then it gets that of bodies
   */
  constructor(frameBytes: number, handler: FrameHandler, direct: boolean) {
    this.#frameBytes = frameBytes;
    this.#handler = handler;
    this.#direct = direct;
    this.#bytes = new Uint8Array(direct ? BUFFER : BUFFER_OF_ALL);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** From the next frame on another one is told; that it has ended, too, if it has. */
  handOver(frameBytes: number, handler: FrameHandler): void {
    this.#frameBytes = frameBytes;
    this.#handler = handler;
    if (this.#over) handler.ended(undefined);
  }

  buffer(): Uint8Array {
    const body = this.#body;
    if (this.#direct && body !== undefined && body.length - body.received >= DIRECT && isDirect(body)) {
      this.#lent = body;
      return body.into!.subarray(body.received);
    }
    return this.#fill === 0 ? this.#bytes : this.#bytes.subarray(this.#fill);
  }

  received(n: number): void {
    if (this.#over) return;
    const lent = this.#lent;
    try {
      if (lent === undefined) this.#parse(this.#fill + n);
      else {
        this.#return();
        this.#took(lent, n);
      }
    } catch (error) {
      this.stop(error instanceof Error ? error : new Error(String(error)));
    }
  }

  closed(error?: Error): void {
    this.stop(error);
  }

  /** Nothing more is taken from the pipe, which has ended, or is destroyed by whoever calls this. Idempotent. */
  stop(error: Error | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#return();
    this.#handler.ended(error);
  }

  /**
   * What comes of a body goes nowhere from now on.
   * @returns undefined: the pipe does not read into its memory; otherwise resolves when it does not any more: when something has come,
   * or the pipe has been destroyed
   */
  withdraw(body: Body): Promise<void> | undefined {
    body.into = undefined;
    if (this.#lent !== body) return undefined;
    return new Promise((resolve) => this.#returned.push(resolve));
  }

  #return(): void {
    this.#lent = undefined;
    for (const resolve of this.#returned.splice(0)) resolve();
  }

  #parse(end: number): void {
    let at = 0;
    while (at < end && !this.#over) {
      const body = this.#body;
      if (body !== undefined) {
        const size = Math.min(end - at, body.length - body.received);
        // Freed behind the library's back it has no length.
        if (body.into?.length === body.length) body.into.set(this.#bytes.subarray(at, at + size), body.received);
        at += size;
        this.#took(body, size);
        continue;
      }
      const size = this.#frameBytes;
      if (end - at < size) break;
      const next = this.#handler.frame(this.#view, at);
      at += size;
      if (next === undefined) continue;
      this.#body = next;
      if (next.length === 0) this.#took(next, 0);
    }
    if (at > 0 && at < end) this.#bytes.copyWithin(0, at, end);
    this.#fill = end - at;
  }

  #took(body: Body, n: number): void {
    body.received += n;
    if (body.received < body.length) return;
    this.#body = undefined;
    this.#handler.complete(body);
  }
}

/** Memory that several threads share is not for sockets, nor is what was detached. */
function isDirect({ into, length }: Body): boolean {
  return into !== undefined && into.length === length && into.buffer instanceof ArrayBuffer;
}
