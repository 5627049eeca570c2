/** One direction of a simulated connection: pieces of bytes with their arrival times. */
import type { Scheduler, TaskOwner } from "./scheduler.js";
import type { Seeded } from "./seeded-random.js";

/** A process or a host, of which only the host is used. */
export interface OnHost {
  readonly host: string;
}

/** The network, as its flows see it. */
export interface FlowNetwork {
  readonly scheduler: Scheduler;
  readonly random: Seeded;
  /** Bytes per millisecond. */
  readonly bandwidth: number;
  /** Returns a random delay for bytes that are sent now, in ms. */
  latency(from: OnHost, to: OnHost): number;
  /** Returns the time until which bytes from one host do not reach the other. */
  blockedUntil(from: OnHost, to: OnHost): number;
}

interface FlowPiece {
  bytes: Uint8Array;
  arrival: number;
  /** The end of the connection, for the last piece; undefined for the other pieces. */
  readonly end: { readonly error: Error | undefined } | undefined;
}

/** Maximum number of bytes on their way before the writer has to wait, as with the buffers of a socket. */
const SOCKET_WINDOW_BYTES = 256 * 1024;
const noBytes = new Uint8Array(0);
/** Delay in ms until the writer learns that its bytes were accepted. */
export const CALLBACK_DELAY_MS = 0.005;

/** An end of a connection as its flows see it. */
export interface FlowEnd {
  readonly member: TaskOwner & OnHost;
  /** Whether the end reads bytes. */
  readonly reading: boolean;
  /** Whether the end has stopped reading for a while. */
  readonly isPaused: boolean;
  receive(bytes: Uint8Array): void;
  /** Handles the end of the other side. */
  finished(error: Error | undefined): void;
  later(ms: number, what: string, run: () => void): void;
}

/** One direction of a connection. */
export class Flow {
  readonly #network: FlowNetwork;
  readonly #from: FlowEnd;
  readonly #to: FlowEnd;
  readonly #pieces: FlowPiece[] = [];
  #bytesInFlight = 0;
  #lastArrival = 0;
  #isScheduled = false;
  #isEnding = false;
  /** Whether nothing arrives any more, not even the end of the connection. */
  #isMute = false;
  readonly #blockedWriters: (() => void)[] = [];

  constructor(network: FlowNetwork, from: FlowEnd, to: FlowEnd) {
    this.#network = network;
    this.#from = from;
    this.#to = to;
  }

  send(bytes: Uint8Array, done: () => void): void {
    if (this.#isEnding) {
      this.#from.later(CALLBACK_DELAY_MS, "sent", done);
      return;
    }
    const { random } = this.#network;
    for (let at = 0; at < bytes.length; ) {
      const rest = bytes.length - at;
      const size = random.chance(0.2) ? 1 + random.int(rest) : rest;
      this.#add(bytes.subarray(at, at + size), undefined);
      at += size;
    }
    if (this.#bytesInFlight <= SOCKET_WINDOW_BYTES) this.#from.later(CALLBACK_DELAY_MS, "sent", done);
    else this.#blockedWriters.push(done);
    this.scheduleArrival();
  }

  /** Ends the flow after the bytes on their way. */
  finish(error?: Error): void {
    if (this.#isEnding) return;
    this.#add(noBytes, { error });
    this.#isEnding = true;
    this.#releaseWriters();
    this.scheduleArrival();
  }

  /**
   * Breaks the flow. Some of the bytes on their way may be lost.
   * @param delay additional time in ms until the other end notices
   */
  break(error: Error | undefined, delay = 0): void {
    if (this.#isEnding) return;
    const { random, scheduler } = this.#network;
    const arriving = this.#pieces.filter(({ arrival }) => arrival <= scheduler.now).length;
    const kept = delay > 0 ? arriving : arriving + random.int(this.#pieces.length - arriving + 1);
    const torn = this.#pieces[kept];
    this.#pieces.length = kept;
    if (torn !== undefined && delay === 0) {
      this.#pieces.push({ ...torn, bytes: torn.bytes.subarray(0, random.int(torn.bytes.length)) });
    }
    this.#lastArrival = Math.max(scheduler.now, this.#pieces.at(-1)?.arrival ?? 0) + delay;
    this.finish(error);
  }

  /** Stops the delivery, as if a middlebox had forgotten the connection. */
  mute(): void {
    this.#isMute = true;
  }

  /** Ends the flow at the reader, whose kernel gives the connection up. It also works for a muted flow. */
  giveUp(error: Error): void {
    this.#pieces.length = 0;
    this.stop();
    this.#to.later(CALLBACK_DELAY_MS, "timed out", () => this.#to.finished(error));
  }

  /** Stops sending. Bytes on their way and the end of the flow still arrive if they are read. */
  stop(): void {
    this.#isEnding = true;
    this.#releaseWriters();
  }

  /** Schedules the delivery of the next piece, if the other end reads. */
  scheduleArrival(): void {
    const first = this.#pieces[0];
    if (this.#isScheduled || this.#isMute || first === undefined || !this.#to.reading) return;
    this.#isScheduled = true;
    this.#network.scheduler.schedule(first.arrival, this.#to.member, "bytes", () => this.#arrive());
  }

  #add(bytes: Uint8Array, end: FlowPiece["end"]): void {
    const network = this.#network;
    const earliest = network.scheduler.now + network.latency(this.#from.member, this.#to.member);
    const arrival = Math.max(this.#lastArrival, earliest) + bytes.length / network.bandwidth;
    this.#lastArrival = arrival;
    this.#bytesInFlight += bytes.length;
    this.#pieces.push({ bytes, arrival, end });
  }

  #arrive(): void {
    this.#isScheduled = false;
    if (this.#isMute) return;
    const { scheduler } = this.#network;
    const until = this.#network.blockedUntil(this.#from.member, this.#to.member);
    const first = this.#pieces[0];
    if (until > 0 && first !== undefined) {
      // The kernel has retransmitted the bytes by then.
      first.arrival = until + this.#network.latency(this.#from.member, this.#to.member);
    }
    while (this.#pieces.length > 0 && this.#pieces[0]!.arrival <= scheduler.now && !this.#to.isPaused) {
      const { bytes, end } = this.#pieces.shift()!;
      this.#bytesInFlight -= bytes.length;
      if (end !== undefined) this.#to.finished(end.error);
      else this.#to.receive(bytes);
    }
    if (this.#bytesInFlight <= SOCKET_WINDOW_BYTES) this.#releaseWriters();
    this.scheduleArrival();
  }

  #releaseWriters(): void {
    for (const done of this.#blockedWriters.splice(0)) this.#from.later(CALLBACK_DELAY_MS, "sent", done);
  }
}
