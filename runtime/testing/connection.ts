/**
 * A simulated connection between two processes: bytes arrive late, in pieces of any size, in order, and all of them unless
 * it breaks. When it does, some of what was on its way is lost, from its end backwards.
 */
import type { Pipe, PipeSink } from "../link/pipe.js";
import { callback, Flow, type FlowEnd } from "./flow.js";
import type { Network } from "./network.js";
import type { Runner } from "./scheduler.js";
import { checksum } from "./trace.js";

/** Who is at an end of a connection. */
export interface Member extends Runner {
  readonly host: string;
  /** Those that it has an end of. */
  readonly connections: Set<Connection>;
  /** Bytes have come: for the trace. */
  heard(bytes: number, sum: number): void;
}

/** How long a peer that does not answer is believed in, in ms: what the kernel's keep-alive takes to find out. */
export const silence = 15_000;

/** One end, as the link that has it knows it. */
class End implements Pipe, FlowEnd {
  readonly member: Member;
  readonly #connection: Connection;
  #out!: Flow;
  #in!: Flow;
  #sink: PipeSink | undefined;
  #ended = false;
  #unheard: { readonly error: Error | undefined } | undefined;

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
    if (this.#unheard !== undefined) sink.closed(this.#unheard.error);
    else this.#in.arm();
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
    if (this.#sink === undefined) this.#unheard = { error };
    else this.#sink.closed(error);
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
    for (const all of [network, near, far]) all.connections.add(this);
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

  /** Whether it leads from one host to another. */
  get betweenHosts(): boolean {
    return this.near.member.host !== this.far.member.host;
  }

  /** Nothing comes through any more, and nobody hears of it until the kernels give it up. */
  mute(): void {
    const { scheduler } = this.network;
    this.#there.mute();
    this.#back.mute();
    scheduler.at(scheduler.now + silence, undefined, "keep-alive", () => this.timeOut());
  }

  /** Both kernels have heard nothing of the other for too long. */
  timeOut(): void {
    this.#there.giveUp(new Error("the connection timed out"));
    this.#back.giveUp(new Error("the connection timed out"));
  }

  endClosed(): void {
    if (!this.near.ended || !this.far.ended) return;
    for (const all of [this.network, ...this.members()]) all.connections.delete(this);
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
