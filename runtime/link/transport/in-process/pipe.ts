/**
 * A byte pipe inside one process: between procs that share the process (inline isolation, tests), and from a proc to
 * itself. Bytes are copied once and delivered in a later turn of the event loop, so that the pipe behaves as a socket
 * does.
 */
import { type Clock, systemClock } from "../../clock.js";
import type { Pipe, PipeSink } from "../pipe.js";

interface InProcessWrite {
  readonly chunks: readonly Uint8Array[];
  readonly done: () => void;
}

class InProcessPipe implements Pipe {
  /** The other end. */
  peer: InProcessPipe = this;
  #sink: PipeSink | undefined;
  /** The writes of the peer that are not delivered yet. */
  #incoming: InProcessWrite[] = [];
  #scheduled = false;
  #closedByPeer = false;
  #ended = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    this.#schedule();
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    if (this.#ended) {
      queueMicrotask(done);
      return;
    }
    this.peer.#incoming.push({ chunks, done });
    this.peer.#schedule();
  }

  close(): void {
    if (this.#ended) return;
    this.peer.#closedByPeer = true;
    this.peer.#schedule();
    this.#end(undefined);
  }

  destroy(error?: Error): void {
    if (this.#ended) return;
    const { peer } = this;
    this.#end(error);
    peer.#end(new Error("the connection was reset"));
  }

  ref(): void {}

  unref(): void {}

  #schedule(): void {
    if (this.#scheduled || this.#sink === undefined) return;
    this.#scheduled = true;
    this.#clock.nextTurn(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const writes = this.#incoming;
    this.#incoming = [];
    for (const { chunks, done } of writes) {
      for (const chunk of chunks) this.#copy(chunk);
      done();
    }
    if (this.#closedByPeer && this.#incoming.length === 0) this.#end(undefined);
  }

  #copy(chunk: Uint8Array): void {
    const sink = this.#sink;
    for (let at = 0; at < chunk.length && sink !== undefined && !this.#ended; ) {
      const target = sink.buffer();
      const size = Math.min(target.length, chunk.length - at);
      target.set(size === chunk.length ? chunk : chunk.subarray(at, at + size));
      sink.received(size);
      at += size;
    }
  }

  #end(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#clock.nextTurn(() => {
      for (const { done } of this.#incoming.splice(0)) done();
      this.#sink?.closed(error);
    });
  }
}

/** Creates the two ends of a pipe. */
export function inProcessPipePair(clock = systemClock): readonly [Pipe, Pipe] {
  const a = new InProcessPipe(clock);
  const b = new InProcessPipe(clock);
  a.peer = b;
  b.peer = a;
  return [a, b];
}

/** Creates a pipe that returns what is written to it. */
export function loopbackPipe(clock: Clock): Pipe {
  return new InProcessPipe(clock);
}
