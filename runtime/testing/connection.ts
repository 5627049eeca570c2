/**
 * A simulated connection between two processes. Bytes arrive late, in pieces of any size, in order, and completely
 * unless the connection breaks. When it breaks, some of the last bytes on their way are lost.
 */
import type { PausablePipe, PipeSink } from "../link/transport/pipe.js";
import { checksum } from "./event-trace.js";
import { CALLBACK_DELAY_MS, Flow, type FlowEnd, type FlowNetwork } from "./flow.js";
import type { TaskOwner } from "./scheduler.js";

/** The process at an end of a connection. */
export interface ConnectedProcess extends TaskOwner {
  readonly host: string;
  /** The connections of which the process has an end. */
  readonly connections: Set<SimulatedConnection>;
  /** Records the arrival of bytes in the trace. */
  bytesArrived(bytes: number, sum: number): void;
}

/** The network, as its connections see it. */
export interface ConnectionNetwork extends FlowNetwork {
  /** The open connections. */
  readonly connections: Set<SimulatedConnection>;
}

/** Time in ms until the kernel's keep-alive gives up a peer that does not answer. */
export const SILENCE_MS = 15_000;

/** One end of a connection, as its link uses it. */
class ConnectionEnd implements PausablePipe, FlowEnd {
  readonly member: ConnectedProcess;
  readonly #connection: SimulatedConnection;
  #outgoing!: Flow;
  #incoming!: Flow;
  #sink: PipeSink | undefined;
  #ended = false;
  #isPaused = false;
  #unreportedEnd: { readonly error: Error | undefined } | undefined;

  constructor(connection: SimulatedConnection, member: ConnectedProcess) {
    this.#connection = connection;
    this.member = member;
  }

  connect(out: Flow, incoming: Flow): void {
    this.#outgoing = out;
    this.#incoming = incoming;
  }

  get reading(): boolean {
    return this.#sink !== undefined && !this.#ended && !this.#isPaused;
  }

  get isPaused(): boolean {
    return this.#isPaused && !this.#ended;
  }

  get ended(): boolean {
    return this.#ended;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    if (this.#unreportedEnd !== undefined) sink.closed(this.#unreportedEnd.error);
    else this.#incoming.scheduleArrival();
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    if (this.#ended) this.later(CALLBACK_DELAY_MS, "sent", done);
    else this.#outgoing.send(joinChunks(chunks), done);
  }

  close(): void {
    if (this.#ended) return;
    this.#outgoing.finish();
    this.#endHere(undefined);
  }

  destroy(error?: Error): void {
    if (this.#ended) return;
    this.#outgoing.break(new Error("the connection was reset"));
    this.#endHere(error);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (this.reading) this.#incoming.scheduleArrival();
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
    if (crashed) this.#outgoing.break(new Error("the connection timed out"), SILENCE_MS);
    else if (random.chance(0.5)) this.#outgoing.finish(random.chance(0.5) ? new Error("read ECONNRESET") : undefined);
    else this.#outgoing.break(new Error("read ECONNRESET"));
    this.#incoming.stop();
    this.#connection.endClosed();
  }

  receive(bytes: Uint8Array): void {
    this.member.bytesArrived(bytes.length, checksum(bytes));
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
    this.#outgoing.stop();
    this.#connection.endClosed();
    if (this.#sink === undefined) this.#unreportedEnd = { error };
    else this.#sink.closed(error);
  }

  later(ms: number, what: string, run: () => void): void {
    const { scheduler } = this.#connection.network;
    scheduler.schedule(scheduler.now + ms, this.member, what, run);
  }

  #endHere(error: Error | undefined): void {
    this.#ended = true;
    this.#incoming.stop();
    this.#connection.endClosed();
    this.later(CALLBACK_DELAY_MS, "closed", () => this.#sink?.closed(error));
  }
}

export class SimulatedConnection {
  readonly network: ConnectionNetwork;
  readonly near: ConnectionEnd;
  readonly far: ConnectionEnd;
  readonly #toFar: Flow;
  readonly #toNear: Flow;

  constructor(network: ConnectionNetwork, near: ConnectedProcess, far: ConnectedProcess) {
    this.network = network;
    this.near = new ConnectionEnd(this, near);
    this.far = new ConnectionEnd(this, far);
    this.#toFar = new Flow(network, this.near, this.far);
    this.#toNear = new Flow(network, this.far, this.near);
    this.near.connect(this.#toFar, this.#toNear);
    this.far.connect(this.#toNear, this.#toFar);
    for (const all of [network, near, far]) all.connections.add(this);
  }

  /** Returns the processes at the two ends. */
  members(): readonly [ConnectedProcess, ConnectedProcess] {
    return [this.near.member, this.far.member];
  }

  /** Breaks the connection. Each end notices at its own time. */
  cut(): void {
    const error = () => new Error("the connection was cut");
    this.#toFar.break(error());
    this.#toNear.break(error());
  }

  /** Whether the connection leads from one host to another. */
  get betweenHosts(): boolean {
    return this.near.member.host !== this.far.member.host;
  }

  /** Stops the delivery of bytes. Both ends notice when their kernels give the connection up, after `silence`. */
  mute(): void {
    const { scheduler } = this.network;
    this.#toFar.mute();
    this.#toNear.mute();
    scheduler.schedule(scheduler.now + SILENCE_MS, undefined, "keep-alive", () => this.timeOut());
  }

  /** Ends the connection because both kernels have heard nothing from the other side for too long. */
  timeOut(): void {
    this.#toFar.giveUp(new Error("the connection timed out"));
    this.#toNear.giveUp(new Error("the connection timed out"));
  }

  endClosed(): void {
    if (!this.near.ended || !this.far.ended) return;
    for (const all of [this.network, ...this.members()]) all.connections.delete(this);
  }
}

function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, end);
    end += chunk.length;
  }
  return bytes;
}
