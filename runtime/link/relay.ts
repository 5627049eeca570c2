/**
 * Pipes between two procs that cannot reach each other, carried in frames of links to a third one that reaches both. The
 * ends speak the same frames over it as over a socket; the proc in between passes bytes on and never reads them.
 */
import type { ProcId } from "./address.js";
import { copyBytes } from "./frame.js";
import type { RelayFrame } from "./host.js";
import type { Link } from "./link.js";
import type { Pipe, PipeSink } from "./pipe.js";

/** Operations of a relay frame; the lowest bit of `op` says that the acceptor speaks. */
const Op = { data: 0, close: 2, reset: 4 } as const;
const FROM_ACCEPTOR = 1;

/** Bytes of one frame at most: relays share their links with others. */
const PIECE = 32 * 1024;

export interface RelayHost {
  readonly id: ProcId;
  /** The link that leads to a proc, if there is one. */
  linkTo(peer: ProcId): Link | undefined;
  /** Somebody has dialled this proc. */
  accept(pipe: Pipe, from: ProcId): void;
}

class RelayPipe implements Pipe {
  readonly #relays: Relays;
  readonly #via: Link;
  readonly #peer: ProcId;
  readonly #channel: number;
  readonly #side: number;
  #sink: PipeSink | undefined;
  readonly #early: Uint8Array[] = [];
  #ended = false;

  constructor(relays: Relays, via: Link, peer: ProcId, channel: number, accepted: boolean) {
    this.#relays = relays;
    this.#via = via;
    this.#peer = peer;
    this.#channel = channel;
    this.#side = accepted ? FROM_ACCEPTOR : 0;
  }

  get via(): Link {
    return this.#via;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    for (const bytes of this.#early.splice(0)) this.received(bytes);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += PIECE) this.#send(Op.data, chunk.subarray(at, at + PIECE));
    }
    queueMicrotask(done);
  }

  close(): void {
    this.#send(Op.close, nothing);
    this.end(undefined);
  }

  destroy(error?: Error): void {
    this.#send(Op.reset, nothing);
    this.end(error);
  }

  ref(): void {}

  unref(): void {}

  /** `bytes` need not outlast this call. */
  received(bytes: Uint8Array): void {
    const sink = this.#sink;
    if (sink === undefined) {
      this.#early.push(copyBytes(bytes, 0, bytes.length));
      return;
    }
    for (let at = 0; at < bytes.length && !this.#ended; ) {
      const target = sink.buffer();
      const size = Math.min(target.length, bytes.length - at);
      target.set(bytes.subarray(at, at + size));
      sink.received(size);
      at += size;
    }
  }

  end(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#relays.forget(this, keyOf(this.#peer, this.#channel, this.#side));
    queueMicrotask(() => this.#sink?.closed(error));
  }

  #send(op: number, bytes: Uint8Array): void {
    if (this.#ended) return;
    const { id } = this.#relays.host;
    this.#via.sendRelay({ to: this.#peer, from: id, channel: this.#channel, op: op | this.#side, bytes });
  }
}

const nothing = new Uint8Array(0);

/** A pipe between two other procs, as the one in between knows it. */
interface Passing {
  readonly dialler: ProcId;
  readonly acceptor: ProcId;
  readonly channel: number;
  readonly toDialler: Link;
  readonly toAcceptor: Link;
}

/** The relayed pipes of one proc, and what it passes on for others. */
export class Relays {
  readonly host: RelayHost;
  readonly #pipes = new Map<string, RelayPipe>();
  /** Pipes of others, until one of them has ended it. */
  readonly #passing = new Map<string, Passing>();
  /** What ends with each link: the pipes of this proc that go over it, and the keys of others' pipes. */
  readonly #over = new Map<Link, Set<RelayPipe | string>>();
  #channels = 0;

  constructor(host: RelayHost) {
    this.host = host;
  }

  /** A pipe to `peer` through the proc at the other end of `via`. Whether that reaches it shows later. */
  dial(via: Link, peer: ProcId): Pipe {
    const channel = ++this.#channels;
    return this.#open(keyOf(peer, channel, 0), new RelayPipe(this, via, peer, channel, false));
  }

  received(link: Link, frame: RelayFrame): void {
    if (frame.to === this.host.id) this.#deliver(link, frame);
    else this.#passOn(link, frame);
  }

  /** A link is gone, and with it what went through it: who is at the other end of that hears of it. */
  linkEnded(link: Link, error: Error): void {
    for (const ended of [...(this.#over.get(link) ?? [])]) {
      if (ended instanceof RelayPipe) ended.end(error);
      else this.#passingEnded(link, ended);
    }
    this.#over.delete(link);
  }

  /** A pipe of this proc has ended. */
  forget(pipe: RelayPipe, key: string): void {
    this.#pipes.delete(key);
    this.#goesOver(pipe.via, pipe, false);
  }

  #open(key: string, pipe: RelayPipe): RelayPipe {
    this.#pipes.set(key, pipe);
    this.#goesOver(pipe.via, pipe, true);
    return pipe;
  }

  #goesOver(link: Link, what: RelayPipe | string, does: boolean): void {
    const over = this.#over.get(link);
    if (!does) {
      over?.delete(what);
      if (over?.size === 0) this.#over.delete(link);
    } else if (over === undefined) this.#over.set(link, new Set([what]));
    else over.add(what);
  }

  #passingEnded(link: Link, key: string): void {
    const { dialler, acceptor, channel, toDialler, toAcceptor } = this.#passing.get(key)!;
    this.#forgetPassing(key);
    const fromAcceptor = { to: dialler, from: acceptor, channel, op: Op.reset | FROM_ACCEPTOR, bytes: nothing };
    if (link === toAcceptor) toDialler.sendRelay(fromAcceptor);
    else toAcceptor.sendRelay({ ...fromAcceptor, to: acceptor, from: dialler, op: Op.reset });
  }

  #forgetPassing(key: string): void {
    const known = this.#passing.get(key);
    if (known === undefined) return;
    this.#passing.delete(key);
    this.#goesOver(known.toDialler, key, false);
    this.#goesOver(known.toAcceptor, key, false);
  }

  #passOn(link: Link, frame: RelayFrame): void {
    const next = this.host.linkTo(frame.to);
    if (next !== undefined && next !== link) {
      next.sendRelay(frame);
      this.#note(link, next, frame);
    } else if ((frame.op & ~FROM_ACCEPTOR) !== Op.reset) {
      const { to, from, channel, op } = frame;
      link.sendRelay({ to: from, from: to, channel, op: Op.reset | (~op & FROM_ACCEPTOR), bytes: nothing });
    }
  }

  #note(link: Link, next: Link, { to, from, channel, op }: RelayFrame): void {
    const accepted = (op & FROM_ACCEPTOR) !== 0;
    const [dialler, acceptor] = accepted ? [to, from] : [from, to];
    const key = `${dialler}/${keyOf(acceptor, channel, 0)}`;
    if ((op & ~FROM_ACCEPTOR) !== Op.data) {
      this.#forgetPassing(key);
      return;
    }
    const [toDialler, toAcceptor] = accepted ? [next, link] : [link, next];
    const known = this.#passing.get(key);
    if (known?.toDialler === toDialler && known.toAcceptor === toAcceptor) return;
    this.#forgetPassing(key);
    this.#passing.set(key, { dialler, acceptor, channel, toDialler, toAcceptor });
    this.#goesOver(toDialler, key, true);
    this.#goesOver(toAcceptor, key, true);
  }

  #deliver(link: Link, { from, channel, op, bytes }: RelayFrame): void {
    const side = ~op & FROM_ACCEPTOR;
    const what = op & ~FROM_ACCEPTOR;
    let pipe = this.#pipes.get(keyOf(from, channel, side));
    if (pipe === undefined) {
      if (what !== Op.data || side !== FROM_ACCEPTOR) return;
      pipe = this.#open(keyOf(from, channel, side), new RelayPipe(this, link, from, channel, true));
      this.host.accept(pipe, from);
    }
    if (what === Op.data) pipe.received(bytes);
    else pipe.end(what === Op.close ? undefined : new Error("the proc in between does not reach the peer"));
  }
}

function keyOf(peer: ProcId, channel: number, side: number): string {
  return `${peer}/${channel}/${side}`;
}
