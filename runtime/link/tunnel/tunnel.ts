/**
 * One end of a tunnel: a connection that carries any number of channels. The side that has dialled opens channels, and the
 * other side connects each of them to an address. A tunnel knows nothing of what its channels carry, and ends with its
 * connection.
 */
import { setMaxListeners } from "node:events";
import { ProtocolError } from "../frame/frame.js";
import type { Pipe } from "../transport/pipe.js";
import { Channel, type ChannelTunnel } from "./channel.js";
import { type AnnouncedData, DataAnnouncements, type DataRequest, refusedError } from "./data-announcements.js";
import { newTunnelFrame, numberBody, openBody, readNumber, readText, TunnelKind, textBody } from "./frame.js";
import { TunnelFrameReader, type TunnelFrames } from "./frame-reader.js";
import { defaultTunnelLimits, type TunnelLimits } from "./limits.js";
import { TunnelOutbox } from "./outbox.js";

/** A channel that the peer has opened and that waits to be connected. */
export interface ChannelRequest {
  readonly address: string;
  /** The channel ends if the peer does not want it any more. */
  readonly channel: Channel;
  /** The channel is connected. */
  confirm(): void;
  /** @param code the code of the system's error, or an empty text */
  refuse(code: string, reason: string): void;
}

export interface TunnelOptions {
  readonly limits?: Partial<TunnelLimits>;
  /** Gets the channels that the peer opens. Absent: the peer opens none. */
  readonly opened?: (request: ChannelRequest) => void;
  /** Gets the data connections that the peer announces. Absent: it announces none. */
  readonly announced?: (request: DataRequest) => void;
  /** The tunnel has ended, with its channels. */
  readonly ended?: (error: Error | undefined) => void;
}

interface Opening {
  readonly resolve: (channel: Channel) => void;
  readonly reject: (error: Error) => void;
}

export class Tunnel implements TunnelFrames, ChannelTunnel {
  readonly #pipe: Pipe;
  readonly #options: TunnelOptions;
  readonly #limits: TunnelLimits;
  readonly #outbox: TunnelOutbox;
  readonly #reader: TunnelFrameReader;
  readonly #channels = new Map<number, Channel>();
  /** The channels that this side has opened, and that are not connected yet. */
  readonly #openings = new Map<Channel, Opening>();
  readonly #pings = new Map<number, () => void>();
  readonly #data = new DataAnnouncements((frame) => this.sendControl(frame));
  readonly #lifetime = new AbortController();
  #lastChannel = 0;
  #lastPing = 0;
  /** The number of bytes by which the windows may still grow. */
  #growth: number;
  #holders = 0;
  #outcome: { readonly error: Error | undefined } | undefined;

  constructor(pipe: Pipe, options: TunnelOptions = {}) {
    this.#pipe = pipe;
    this.#options = options;
    this.#limits = { ...defaultTunnelLimits, ...options.limits };
    this.#growth = this.#limits.growth;
    this.#outbox = new TunnelOutbox(pipe, () => {
      this.destroy(new Error("the peer of the tunnel does not read what it has asked for"));
    });
    // Each data connection listens to it.
    setMaxListeners(0, this.#lifetime.signal);
    this.#reader = new TunnelFrameReader(this);
    pipe.open(this.#reader);
  }

  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** Aborted with the reason when the tunnel ends. */
  get lifetime(): AbortSignal {
    return this.#lifetime.signal;
  }

  /** The number of channels, and of data connections that the peer has announced. */
  get channelCount(): number {
    return this.#channels.size + this.#data.requestedCount;
  }

  /**
   * Opens a channel. It can be destroyed while it is not connected.
   * @param address the address to which the other side connects it
   * @returns the channel, and a promise that resolves when it is connected, and rejects with ChannelRefusedError, or
   * with the error with which the tunnel or the channel has ended
   */
  openChannel(address: string): { readonly channel: Channel; readonly connected: Promise<Channel> } {
    const number = ++this.#lastChannel;
    const channel = this.#newChannel(number);
    const connected = new Promise<Channel>((resolve, reject) => {
      this.#openings.set(channel, { resolve, reject });
    });
    if (this.#outcome === undefined) {
      this.#channels.set(number, channel);
      this.sendControl(newTunnelFrame(TunnelKind.open, number, openBody(channel.window.size, address)));
    } else channel.end(endOfTunnel(this.#outcome.error));
    return { channel, connected };
  }

  /**
   * Announces a data connection: one that this side makes beside the tunnel, and that begins with a ticket.
   * @param address the address to which the other side joins it
   */
  announceData(ticket: Uint8Array, address: string): AnnouncedData {
    const announced = this.#data.announce(++this.#lastChannel, ticket, address);
    if (this.#outcome !== undefined) this.#data.end(endOfTunnel(this.#outcome.error));
    return announced;
  }

  /** Resolves when the peer has answered. It never resolves if the peer does not answer. */
  ping(): Promise<void> {
    const number = ++this.#lastPing;
    return new Promise((resolve) => {
      this.#pings.set(number, resolve);
      this.sendControl(newTunnelFrame(TunnelKind.ping, number));
    });
  }

  /** Ends the tunnel and its channels. */
  destroy(error?: Error): void {
    this.#end(error);
    this.#pipe.destroy(error);
  }

  sendControl(frame: Uint8Array): void {
    this.#outbox.sendControl(frame);
  }

  channelReady(channel: Channel): void {
    this.#outbox.channelReady(channel);
  }

  channelEnded(channel: Channel, error: Error | undefined): void {
    this.#channels.delete(channel.number);
    this.#outbox.forget(channel);
    this.#growth += channel.window.size - this.#limits.window;
    const opening = this.#openings.get(channel);
    if (opening === undefined) return;
    this.#openings.delete(channel);
    opening.reject(error ?? new Error("the channel was closed before it was connected"));
  }

  hold(): void {
    if (this.#holders++ === 0) this.#pipe.ref();
  }

  release(): void {
    if (--this.#holders === 0) this.#pipe.unref();
  }

  data(number: number, bytes: Uint8Array): void {
    // A channel that this side has ended may still have bytes on their way.
    this.#channels.get(number)?.dataReceived(bytes);
  }

  control(kind: number, number: number, body: Uint8Array): void {
    switch (kind) {
      case TunnelKind.open:
        this.#openReceived(number, body);
        return;
      case TunnelKind.openData:
        this.#announcementReceived(number, body);
        return;
      case TunnelKind.ping:
        this.sendControl(newTunnelFrame(TunnelKind.pong, number));
        return;
      case TunnelKind.pong:
        this.#pings.get(number)?.();
        this.#pings.delete(number);
        return;
      default: {
        if (this.#data.control(kind, number, body)) return;
        const channel = this.#channels.get(number);
        if (channel !== undefined) this.#channelControl(kind, channel, body);
      }
    }
  }

  broken(error: Error): void {
    this.destroy(error);
  }

  ended(error: Error | undefined): void {
    this.#end(error);
  }

  #channelControl(kind: number, channel: Channel, body: Uint8Array): void {
    const opening = this.#openings.get(channel);
    switch (kind) {
      case TunnelKind.opened:
        if (opening === undefined) throw new ProtocolError("the peer has connected a channel of a tunnel twice");
        this.#openings.delete(channel);
        channel.creditReceived(readNumber(body, "the window"));
        opening.resolve(channel);
        return;
      case TunnelKind.refused: {
        if (opening === undefined)
          throw new ProtocolError("the peer has refused a channel of a tunnel that it has connected");
        this.#openings.delete(channel);
        channel.end(undefined);
        opening.reject(refusedError(body));
        return;
      }
      case TunnelKind.credit:
        channel.creditReceived(readNumber(body, "credit"));
        return;
      case TunnelKind.end:
        channel.closeReceived();
        return;
      default:
        channel.end(new Error(readText(body)));
    }
  }

  #openReceived(number: number, body: Uint8Array): void {
    const { opened } = this.#options;
    if (opened === undefined)
      throw new ProtocolError("the peer opens a channel of a tunnel that this process has dialled");
    this.#takeNumber(number);
    const credit = readNumber(body, "the window");
    const address = readText(body.subarray(4));
    const channel = this.#newChannel(number);
    const refuse = (code: string, reason: string) => {
      if (channel.hasEnded) return;
      this.sendControl(newTunnelFrame(TunnelKind.refused, number, textBody(`${code}\n${reason}`)));
      channel.end(undefined);
    };
    if (this.#isFull) {
      refuse("EAGAIN", this.#fullText);
      return;
    }
    this.#channels.set(number, channel);
    channel.creditReceived(credit);
    const confirm = () => {
      if (!channel.hasEnded)
        this.sendControl(newTunnelFrame(TunnelKind.opened, number, numberBody(channel.window.size)));
    };
    opened({ address, channel, confirm, refuse });
  }

  #announcementReceived(number: number, body: Uint8Array): void {
    const { announced } = this.#options;
    if (announced === undefined)
      throw new ProtocolError("the peer announces a data connection that this side cannot take");
    this.#takeNumber(number);
    const isFull = this.#isFull;
    const request = this.#data.received(number, body);
    if (isFull) request.refuse("EAGAIN", this.#fullText);
    else announced(request);
  }

  /** @throws ProtocolError if the number was used before */
  #takeNumber(number: number): void {
    if (number <= this.#lastChannel) throw new ProtocolError(`the peer opens channel ${number} of a tunnel twice`);
    this.#lastChannel = number;
  }

  get #isFull(): boolean {
    return this.channelCount >= this.#limits.channels;
  }

  get #fullText(): string {
    return `the host has ${this.#limits.channels} channels for this driver and opens no more`;
  }

  #newChannel(number: number): Channel {
    return new Channel(this, number, this.#limits.window, (window) => {
      const growth = Math.min(window, this.#limits.maxWindow - window, this.#growth);
      this.#growth -= growth;
      return growth;
    });
  }

  #end(error: Error | undefined): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = { error };
    this.#reader.stop();
    this.#outbox.end();
    this.#pings.clear();
    const reason = endOfTunnel(error);
    for (const channel of [...this.#channels.values()]) channel.end(reason);
    this.#data.end(reason);
    this.#lifetime.abort(reason);
    this.#options.ended?.(error);
  }
}

function endOfTunnel(error: Error | undefined): Error {
  return new Error(`the tunnel has ended${error === undefined ? "" : `: ${error.message}`}`, { cause: error });
}
