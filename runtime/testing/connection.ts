/**
 * A simulated connection between two processes: bytes arrive late, in pieces of any size, in order, and all of them unless
 * it breaks. When it does, some of what was on its way is lost, from its end backwards.
 */
import type { Pipe, PipeSink } from "../link/pipe.js";
import type { Network } from "./network.js";
import type { Runner } from "./scheduler.js";
import { checksum } from "./trace.js";

/** Who is at an end of a connection. */
export interface Member extends Runner {
  readonly host: string;
  /** Bytes have come: for the trace. */
  heard(bytes: number, sum: number): void;
}

interface Piece {
  bytes: Uint8Array;
  arrival: number;
  /** Set: the last piece, how the connection ends. */
  readonly end: { readonly error: Error | undefined } | undefined;
}

/** So many bytes may be on their way before the writer has to wait, as in a socket's buffers. */
const windowBytes = 256 * 1024;
const nothing = new Uint8Array(0);
/** In ms. */
const callback = 0.005;
/** What a host that has crashed leaves unanswered until its peers give up, in ms. */
const silence = 15_000;

/** One direction. */
class Flow {
  readonly #network: Network;
  readonly #from: End;
  readonly #to: End;
  readonly #pieces: Piece[] = [];
  #onTheWay = 0;
  #lastArrival = 0;
  #armed = false;
  #ending = false;
  readonly #blocked: (() => void)[] = [];

  constructor(network: Network, from: End, to: End) {
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

  /** Nothing follows: the other end hears of it after what is on its way. */
  finish(error?: Error): void {
    if (this.#ending) return;
    this.#add(nothing, { error });
    this.#ending = true;
    this.#release();
    this.arm();
  }

  /** Breaks off: some of what is on its way may be lost. @param delay how much later the other end hears of it, in ms */
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

  /** Nothing more is sent; what is on its way, and the end of it, arrives if there is anyone to read it. */
  stop(): void {
    this.#ending = true;
    this.#release();
  }

  /** Sees to it that what arrives is read. */
  arm(): void {
    const first = this.#pieces[0];
    if (this.#armed || first === undefined || !this.#to.reading) return;
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
    const { scheduler } = this.#network;
    const until = this.#network.blockedUntil(this.#from.member, this.#to.member);
    const first = this.#pieces[0];
    if (until > 0 && first !== undefined) {
      // Sent again by then.
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

/** One end, as the link that has it knows it. */
class End implements Pipe {
  readonly member: Member;
  readonly #connection: Connection;
  #out!: Flow;
  #in!: Flow;
  #sink: PipeSink | undefined;
  #ended = false;

  constructor(connection: Connection, member: Member) {
    this.#connection = connection;
    this.member = member;
  }

  wire(out: Flow, incoming: Flow): void {
    this.#out = out;
    this.#in = incoming;
  }

  get reading(): boolean {
    return this.#sink !== undefined && !this.#ended;
  }

  get ended(): boolean {
    return this.#ended;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    this.#in.arm();
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    if (this.#ended) this.later(callback, "sent", done);
    else this.#out.send(joined(chunks), done);
  }

  close(): void {
    if (this.#ended) return;
    this.#out.finish();
    this.#endHere(undefined);
  }

  destroy(error?: Error): void {
    if (this.#ended) return;
    this.#out.break(new Error("the connection was reset"));
    this.#endHere(error);
  }

  ref(): void {}

  unref(): void {}

  /** The process at this end has ended: of a host that has crashed nothing is heard for long. */
  abandon(crashed: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    const { random } = this.#connection.network;
    if (crashed) this.#out.break(new Error("the connection timed out"), silence);
    else if (random.chance(0.5)) this.#out.finish(random.chance(0.5) ? new Error("read ECONNRESET") : undefined);
    else this.#out.break(new Error("read ECONNRESET"));
    this.#in.stop();
    this.#connection.endClosed();
  }

  take(bytes: Uint8Array): void {
    this.member.heard(bytes.length, checksum(bytes));
    const sink = this.#sink!;
    for (let at = 0; at < bytes.length && !this.#ended; ) {
      const target = sink.buffer();
      const size = Math.min(target.length, bytes.length - at);
      target.set(bytes.subarray(at, at + size));
      sink.received(size);
      at += size;
    }
  }

  /** The other end is gone. */
  finished(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#out.stop();
    this.#connection.endClosed();
    this.#sink?.closed(error);
  }

  later(ms: number, what: string, run: () => void): void {
    const { scheduler } = this.#connection.network;
    scheduler.at(scheduler.now + ms, this.member, what, run);
  }

  #endHere(error: Error | undefined): void {
    this.#ended = true;
    this.#in.stop();
    this.#connection.endClosed();
    this.later(callback, "closed", () => this.#sink?.closed(error));
  }
}

export class Connection {
  readonly network: Network;
  readonly near: End;
  readonly far: End;
  readonly #there: Flow;
  readonly #back: Flow;

  constructor(network: Network, near: Member, far: Member) {
    this.network = network;
    this.near = new End(this, near);
    this.far = new End(this, far);
    this.#there = new Flow(network, this.near, this.far);
    this.#back = new Flow(network, this.far, this.near);
    this.near.wire(this.#there, this.#back);
    this.far.wire(this.#back, this.#there);
    network.connections.add(this);
  }

  /** Whose it is. */
  members(): readonly [Member, Member] {
    return [this.near.member, this.far.member];
  }

  /** Both ends hear, each in its time, that it is broken. */
  cut(): void {
    const error = () => new Error("the connection was cut");
    this.#there.break(error());
    this.#back.break(error());
  }

  endClosed(): void {
    if (this.near.ended && this.far.ended) this.network.connections.delete(this);
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, end);
    end += chunk.length;
  }
  return bytes;
}
