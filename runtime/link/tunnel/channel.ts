/**
 * A channel of a tunnel: a pipe of its own, whose bytes share the connection of the tunnel with other channels. A side
 * that does not take the bytes of a channel stops the peer's side of this channel and no other one.
 */
import { deliverBytes, type PausablePipe, type PipeSink, totalBytes } from "../transport/pipe.js";
import { newTunnelFrame, numberBody, TunnelKind, textBody } from "./frame.js";
import { HeldBytes } from "./held-bytes.js";
import { type GrowWindow, ReceiveWindow } from "./receive-window.js";
import { SendQueue } from "./send-queue.js";

/** The tunnel, as its channels use it. */
export interface ChannelTunnel {
  /** Sends a frame before the bytes of channels. */
  sendControl(frame: Uint8Array): void;
  /** The channel has bytes to send, and credit for them. */
  channelReady(channel: Channel): void;
  /** The channel has ended. */
  channelEnded(channel: Channel, error: Error | undefined): void;
  /** Channels keep the process alive together. */
  hold(): void;
  release(): void;
}

export class Channel implements PausablePipe {
  readonly number: number;
  readonly window: ReceiveWindow;
  readonly #tunnel: ChannelTunnel;
  readonly #queue = new SendQueue();
  #sink: PipeSink | undefined;
  /** Bytes that came while nobody reads. The window limits them. */
  readonly #held = new HeldBytes();
  #isPaused = false;
  #isReferenced = false;
  /** Whether this side has closed the channel. It ends when everything has been sent. */
  #isClosing = false;
  /** Whether the peer has closed the channel. It ends when everything has been read. */
  #isPeerClosed = false;
  #outcome: { readonly error: Error | undefined } | undefined;

  constructor(tunnel: ChannelTunnel, number: number, window: number, grow: GrowWindow) {
    this.#tunnel = tunnel;
    this.number = number;
    this.window = new ReceiveWindow(window, grow);
  }

  /** The number of bytes that wait to be sent. */
  get waitingBytes(): number {
    return this.#queue.bytes;
  }

  /** Whether bytes can be sent now. */
  get isReady(): boolean {
    return this.#queue.isReady;
  }

  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    if (this.#outcome !== undefined) sink.closed(this.#outcome.error);
    else this.#deliverHeld();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliverHeld();
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    const size = totalBytes(chunks);
    if (this.#outcome !== undefined || this.#isClosing || size === 0) {
      queueMicrotask(done);
      return;
    }
    this.#queue.add(chunks, size, done);
    if (this.#queue.isReady) this.#tunnel.channelReady(this);
  }

  close(): void {
    this.#isClosing = true;
    this.#endIfSent();
  }

  destroy(error?: Error): void {
    if (this.#outcome !== undefined) return;
    const reason = textBody(error?.message ?? "the peer has ended it");
    this.#tunnel.sendControl(newTunnelFrame(TunnelKind.reset, this.number, reason));
    this.end(error);
  }

  ref(): void {
    if (this.#isReferenced || this.#outcome !== undefined) return;
    this.#isReferenced = true;
    this.#tunnel.hold();
  }

  unref(): void {
    if (!this.#isReferenced) return;
    this.#isReferenced = false;
    this.#tunnel.release();
  }

  /** The peer may send bytes in addition. */
  creditReceived(bytes: number): void {
    this.#queue.addCredit(bytes);
    if (this.#queue.isReady) this.#tunnel.channelReady(this);
  }

  /** Moves one data frame to a batch. @returns the number of bytes */
  takeFrame(chunks: Uint8Array[], dones: (() => void)[]): number {
    const size = this.#queue.takeFrame(this.number, chunks, dones);
    if (this.#isClosing) this.#endIfSent(chunks);
    return size;
  }

  /** Handles received bytes, which are valid only during this call. @throws ProtocolError if there was no credit for them */
  dataReceived(bytes: Uint8Array): void {
    this.window.received(bytes.length);
    if (this.#sink === undefined || this.#isPaused || !this.#held.isEmpty) this.#held.add(bytes);
    else this.#deliver(bytes, this.#sink);
  }

  /** The peer has closed the channel in order. */
  closeReceived(): void {
    this.#isPeerClosed = true;
    this.#deliverHeld();
  }

  /** Ends the channel without telling the peer. Idempotent. */
  end(error: Error | undefined): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = { error };
    this.#held.clear();
    this.unref();
    for (const done of this.#queue.clear()) queueMicrotask(done);
    this.#tunnel.channelEnded(this, error);
    queueMicrotask(() => this.#sink?.closed(error));
  }

  #deliverHeld(): void {
    while (this.#sink !== undefined && !this.#isPaused && this.#outcome === undefined) {
      const bytes = this.#held.shift();
      if (bytes === undefined) break;
      this.#deliver(bytes, this.#sink);
    }
    if (this.#isPeerClosed && this.#held.isEmpty) this.end(undefined);
  }

  #deliver(bytes: Uint8Array, sink: PipeSink): void {
    deliverBytes(bytes, sink);
    if (this.#outcome !== undefined) return;
    const credit = this.window.taken(bytes.length, this.#held.isEmpty);
    if (credit > 0) this.#tunnel.sendControl(newTunnelFrame(TunnelKind.credit, this.number, numberBody(credit)));
  }

  /** Ends a channel that this side has closed. @param chunks the batch with its last bytes */
  #endIfSent(chunks?: Uint8Array[]): void {
    if (this.#outcome !== undefined || this.#queue.bytes > 0) return;
    const frame = newTunnelFrame(TunnelKind.end, this.number);
    if (chunks === undefined) this.#tunnel.sendControl(frame);
    else chunks.push(frame);
    this.end(undefined);
  }
}
