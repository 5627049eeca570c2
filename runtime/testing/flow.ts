/** One direction of a simulated connection: pieces of bytes with their arrival times. */
import type { Member } from "./connection.js";
import type { Network } from "./network.js";

interface Piece {
  bytes: Uint8Array;
  arrival: number;
  /** How the connection ends, for the last piece; undefined for the other pieces. */
  readonly end: { readonly error: Error | undefined } | undefined;
}

/** Maximum number of bytes on their way before the writer has to wait, as with the buffers of a socket. */
const windowBytes = 256 * 1024;
const nothing = new Uint8Array(0);
/** Delay in ms until the writer learns that its bytes were accepted. */
export const callback = 0.005;

/** An end of a connection as its flows see it. */
export interface FlowEnd {
  readonly member: Member;
  /** Whether the end reads bytes. */
  readonly reading: boolean;
  take(bytes: Uint8Array): void;
  /** Handles the end of the other side. */
  finished(error: Error | undefined): void;
  later(ms: number, what: string, run: () => void): void;
}

/** One direction of a connection. */
export class Flow {
  readonly #network: Network;
  readonly #from: FlowEnd;
  readonly #to: FlowEnd;
  readonly #pieces: Piece[] = [];
  #onTheWay = 0;
  #lastArrival = 0;
  #armed = false;
  #ending = false;
  /** Whether nothing arrives any more, not even the end of the connection. */
  #mute = false;
  readonly #blocked: (() => void)[] = [];

  constructor(network: Network, from: FlowEnd, to: FlowEnd) {
    this.#network = network;
    this.#from = from;
    this.#to = to;
  }

  send(bytes: Uint8Array, done: () => void): void {
    if (this.#ending) {
      this.#from.later(callback, "sent", done);
      return;
    }
    const { random } = this.#network;
    for (let at = 0; at < bytes.length; ) {
      const rest = bytes.length - at;
      const size = random.chance(0.2) ? 1 + random.int(rest) : rest;
      this.#add(bytes.subarray(at, at + size), undefined);
      at += size;
    }
    if (this.#onTheWay <= windowBytes) this.#from.later(callback, "sent", done);
    else this.#blocked.push(done);
    this.arm();
  }

  /** Ends the flow after the bytes on their way. */
  finish(error?: Error): void {
    if (this.#ending) return;
    this.#add(nothing, { error });
    this.#ending = true;
    this.#release();
    this.arm();
  }

  /**
   * Breaks the flow. Some of the bytes on their way may be lost.
   * @param delay additional time in ms until the other end notices
   */
  break(error: Error | undefined, delay = 0): void {
    if (this.#ending) return;
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
    this.#mute = true;
  }

  /** Ends the flow at the reader, whose kernel gives the connection up. It also works for a muted flow. */
  giveUp(error: Error): void {
    this.#pieces.length = 0;
    this.stop();
    this.#to.later(callback, "timed out", () => this.#to.finished(error));
  }

  /** Stops sending. Bytes on their way and the end of the flow still arrive if they are read. */
  stop(): void {
    this.#ending = true;
    this.#release();
  }

  /** Schedules the delivery of the next piece, if the other end reads. */
  arm(): void {
    const first = this.#pieces[0];
    if (this.#armed || this.#mute || first === undefined || !this.#to.reading) return;
    this.#armed = true;
    this.#network.scheduler.at(first.arrival, this.#to.member, "bytes", () => this.#arrive());
  }

  #add(bytes: Uint8Array, end: Piece["end"]): void {
    const network = this.#network;
    const earliest = network.scheduler.now + network.latency(this.#from.member, this.#to.member);
    const arrival = Math.max(this.#lastArrival, earliest) + bytes.length / network.bandwidth;
    this.#lastArrival = arrival;
    this.#onTheWay += bytes.length;
    this.#pieces.push({ bytes, arrival, end });
  }

  #arrive(): void {
    this.#armed = false;
    if (this.#mute) return;
    const { scheduler } = this.#network;
    const until = this.#network.blockedUntil(this.#from.member, this.#to.member);
    const first = this.#pieces[0];
    if (until > 0 && first !== undefined) {
      // The kernel has retransmitted the bytes by then.
      first.arrival = until + this.#network.latency(this.#from.member, this.#to.member);
    }
    while (this.#pieces.length > 0 && this.#pieces[0]!.arrival <= scheduler.now) {
      const { bytes, end } = this.#pieces.shift()!;
      this.#onTheWay -= bytes.length;
      if (end !== undefined) this.#to.finished(end.error);
      else this.#to.take(bytes);
    }
    if (this.#onTheWay <= windowBytes) this.#release();
    this.arm();
  }

  #release(): void {
    for (const done of this.#blocked.splice(0)) this.#from.later(callback, "sent", done);
  }
}
