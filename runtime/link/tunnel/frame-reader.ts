/**
 * Reads the frames of a tunnel from a pipe. The bytes of channels are passed on as they come, without waiting for the
 * whole frame; the other frames are small and are passed on when they are complete.
 */
import { toError } from "../../../shared/text/error-message.js";
import type { PipeSink } from "../transport/pipe.js";
import { checkTunnelFrame, TUNNEL_HEADER, TunnelKind } from "./frame.js";

const READ_BYTES = 64 * 1024;

export interface TunnelFrames {
  /** Bytes of a channel, valid only during this call. */
  data(channel: number, bytes: Uint8Array): void;
  /** Another frame. The body is valid only during this call. @throws ProtocolError if it breaks the protocol */
  control(kind: number, channel: number, body: Uint8Array): void;
  /** The peer has broken the protocol. */
  broken(error: Error): void;
  /** The pipe has ended. */
  ended(error: Error | undefined): void;
}

export class TunnelFrameReader implements PipeSink {
  readonly #frames: TunnelFrames;
  readonly #memory = Buffer.allocUnsafeSlow(READ_BYTES);
  /** The number of bytes at the start of the memory that have not been handled. */
  #fill = 0;
  /** The channel of the data frame that is being read, and the number of its bytes that are still to come. */
  #channel = 0;
  #dataLeft = 0;
  #stopped = false;

  constructor(frames: TunnelFrames) {
    this.#frames = frames;
  }

  /** Ignores what still comes. */
  stop(): void {
    this.#stopped = true;
  }

  buffer(): Uint8Array {
    return this.#memory.subarray(this.#fill);
  }

  received(n: number): void {
    if (this.#stopped) return;
    try {
      this.#parse(this.#fill + n);
    } catch (error) {
      this.#stopped = true;
      this.#frames.broken(toError(error));
    }
  }

  closed(error?: Error): void {
    this.#frames.ended(error);
  }

  #parse(end: number): void {
    const bytes = this.#memory;
    let at = 0;
    while (at < end && !this.#stopped) {
      if (this.#dataLeft > 0) {
        const size = Math.min(this.#dataLeft, end - at);
        this.#dataLeft -= size;
        this.#frames.data(this.#channel, bytes.subarray(at, at + size));
        at += size;
        continue;
      }
      if (end - at < TUNNEL_HEADER) break;
      const size = bytes.readUIntLE(at, 3);
      const kind = bytes[at + 3]!;
      checkTunnelFrame(kind, size);
      const channel = bytes.readUInt32LE(at + 4);
      const body = at + TUNNEL_HEADER;
      if (kind === TunnelKind.data) {
        this.#channel = channel;
        this.#dataLeft = size;
        at = body;
        continue;
      }
      if (end - body < size) break;
      this.#frames.control(kind, channel, bytes.subarray(body, body + size));
      at = body + size;
    }
    if (at > 0 && at < end) bytes.copyWithin(0, at, end);
    this.#fill = Math.max(0, end - at);
  }
}
