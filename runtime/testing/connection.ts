/**
 * A simulated connection between two processes. Bytes arrive late, in pieces of any size, in order, and completely
 * unless the connection breaks. When it breaks, some of the last bytes on their way are lost.
 */
import type { Pipe, PipeSink } from "../link/pipe.js";
import { callback, Flow, type FlowEnd } from "./flow.js";
import type { Network } from "./network.js";
import type { Runner } from "./scheduler.js";
import { checksum } from "./trace.js";

/** The process at an end of a connection. */
export interface Member extends Runner {
  readonly host: string;
  /** The connections of which the process has an end. */
  readonly connections: Set<Connection>;
  /** Records the arrival of bytes in the trace. */
  heard(bytes: number, sum: number): void;
}

/** Time in ms until the kernel's keep-alive gives up a peer that does not answer. */
export const silence = 15_000;

/** One end of a connection, as its link uses it. */
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

  /**
   * Ends the connection with the process at this end.
   * @param crashed whether its host has crashed; the other end then notices only after `silence`
   */
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

  /** Handles the end of the other side. */
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

  /** Returns the processes at the two ends. */
  members(): readonly [Member, Member] {
    return [this.near.member, this.far.member];
  }

  /** Breaks the connection. Each end notices at its own time. */
  cut(): void {
    const error = () => new Error("the connection was cut");
    this.#there.break(error());
    this.#back.break(error());
  }

  /** Whether the connection leads from one host to another. */
  get betweenHosts(): boolean {
    return this.near.member.host !== this.far.member.host;
  }

  /** Stops the delivery of bytes. Both ends notice when their kernels give the connection up, after `silence`. */
  mute(): void {
    const { scheduler } = this.network;
    this.#there.mute();
    this.#back.mute();
    scheduler.at(scheduler.now + silence, undefined, "keep-alive", () => this.timeOut());
  }

  /** Ends the connection because both kernels have heard nothing from the other side for too long. */
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
