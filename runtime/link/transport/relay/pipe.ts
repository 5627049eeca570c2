/**
 * Pipes between two procs that cannot reach each other, which other procs relay. The two ends exchange the same frames
 * as over a socket. A relaying proc forwards the bytes without reading them: to the peer if it has a link to it, and
 * otherwise to its own parent, which relays in the same way.
 */
import type { ProcId } from "../../address.js";
import { copyBytes } from "../../frame/frame.js";
import type { RelayFrame } from "../../frame/relay-frame.js";
import type { Link } from "../../link.js";
import type { Pipe, PipeSink } from "../pipe.js";

/** The operations of a relay frame. The lowest bit of `op` is set in frames of the acceptor. */
const RelayOp = { data: 0, close: 2, reset: 4 } as const;
const FROM_ACCEPTOR_BIT = 1;

/** The largest number of bytes of one frame, because relayed pipes share their links with other traffic. */
const PIECE_BYTES = 32 * 1024;

export interface RelayHost {
  readonly id: ProcId;
  /** Returns the link to a proc, if there is one. */
  linkTo(peer: ProcId): Link | undefined;
  /** Returns a link that leads to a proc which has no link to this one. @param from the proc that asks for it */
  routeTo(peer: ProcId, from: ProcId | undefined): Link | undefined;
  /** Another proc has dialled this proc. */
  accept(pipe: Pipe, from: ProcId): void;
}

class RelayPipe implements Pipe {
  readonly #router: RelayRouter;
  readonly #via: Link;
  readonly #peer: ProcId;
  readonly #channel: number;
  readonly #side: number;
  #sink: PipeSink | undefined;
  readonly #earlyChunks: Uint8Array[] = [];
  #ended = false;

  constructor(relays: RelayRouter, via: Link, peer: ProcId, channel: number, accepted: boolean) {
    this.#router = relays;
    this.#via = via;
    this.#peer = peer;
    this.#channel = channel;
    this.#side = accepted ? FROM_ACCEPTOR_BIT : 0;
  }

  get via(): Link {
    return this.#via;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    for (const bytes of this.#earlyChunks.splice(0)) this.received(bytes);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES)
        this.#send(RelayOp.data, chunk.subarray(at, at + PIECE_BYTES));
    }
    queueMicrotask(done);
  }

  close(): void {
    this.#send(RelayOp.close, noBytes);
    this.end(undefined);
  }

  destroy(error?: Error): void {
    this.#send(RelayOp.reset, noBytes);
    this.end(error);
  }

  ref(): void {}

  unref(): void {}

  /** Handles received bytes, which are valid only during this call. */
  received(bytes: Uint8Array): void {
    const sink = this.#sink;
    if (sink === undefined) {
      this.#earlyChunks.push(copyBytes(bytes, 0, bytes.length));
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
    this.#router.forgetPipe(this, channelKey(this.#peer, this.#channel, this.#side));
    queueMicrotask(() => this.#sink?.closed(error));
  }

  #send(op: number, bytes: Uint8Array): void {
    if (this.#ended) return;
    const { id } = this.#router.host;
    this.#via.sendRelay({ to: this.#peer, from: id, channel: this.#channel, op: op | this.#side, bytes });
  }
}

const noBytes = new Uint8Array(0);

/** A pipe between two other procs, which this proc relays. */
interface RelayedConnection {
  readonly dialler: ProcId;
  readonly acceptor: ProcId;
  readonly channel: number;
  readonly toDialler: Link;
  readonly toAcceptor: Link;
}

/** The relayed pipes of one proc, and the pipes that the proc relays for others. */
export class RelayRouter {
  readonly host: RelayHost;
  readonly #pipes = new Map<string, RelayPipe>();
  /** The pipes that this proc relays for others. */
  readonly #relayed = new Map<string, RelayedConnection>();
  /** The pipes that end with each link: pipes of this proc, and the keys of relayed pipes. */
  readonly #byLink = new Map<Link, Set<RelayPipe | string>>();
  #lastChannel = 0;

  constructor(host: RelayHost) {
    this.host = host;
  }

  /** Opens a pipe to `peer` through the proc at the other end of `via`. The pipe ends if that proc cannot reach the peer. */
  dial(via: Link, peer: ProcId): Pipe {
    const channel = ++this.#lastChannel;
    return this.#open(channelKey(peer, channel, 0), new RelayPipe(this, via, peer, channel, false));
  }

  frameReceived(link: Link, frame: RelayFrame): void {
    if (frame.to === this.host.id) this.#deliver(link, frame);
    else this.#forward(link, frame);
  }

  /** A link has ended, and so have the pipes over it. The other ends of the pipes are told. */
  linkEnded(link: Link, error: Error): void {
    for (const ended of [...(this.#byLink.get(link) ?? [])]) {
      if (ended instanceof RelayPipe) ended.end(error);
      else this.#relayedEnded(link, ended);
    }
    this.#byLink.delete(link);
  }

  /** A pipe of this proc has ended. */
  forgetPipe(pipe: RelayPipe, key: string): void {
    this.#pipes.delete(key);
    this.#trackOnLink(pipe.via, pipe, false);
  }

  #open(key: string, pipe: RelayPipe): RelayPipe {
    this.#pipes.set(key, pipe);
    this.#trackOnLink(pipe.via, pipe, true);
    return pipe;
  }

  #trackOnLink(link: Link, what: RelayPipe | string, does: boolean): void {
    const over = this.#byLink.get(link);
    if (!does) {
      over?.delete(what);
      if (over?.size === 0) this.#byLink.delete(link);
    } else if (over === undefined) this.#byLink.set(link, new Set([what]));
    else over.add(what);
  }

  #relayedEnded(link: Link, key: string): void {
    const { dialler, acceptor, channel, toDialler, toAcceptor } = this.#relayed.get(key)!;
    this.#forgetRelayed(key);
    const fromAcceptor = {
      to: dialler,
      from: acceptor,
      channel,
      op: RelayOp.reset | FROM_ACCEPTOR_BIT,
      bytes: noBytes,
    };
    if (link === toAcceptor) toDialler.sendRelay(fromAcceptor);
    else toAcceptor.sendRelay({ ...fromAcceptor, to: acceptor, from: dialler, op: RelayOp.reset });
  }

  #forgetRelayed(key: string): void {
    const known = this.#relayed.get(key);
    if (known === undefined) return;
    this.#relayed.delete(key);
    this.#trackOnLink(known.toDialler, key, false);
    this.#trackOnLink(known.toAcceptor, key, false);
  }

  #forward(link: Link, frame: RelayFrame): void {
    const next = this.#nextLink(link, frame);
    if (next !== undefined && next !== link) {
      next.sendRelay(frame);
      this.#noteForwarded(link, next, frame);
    } else if ((frame.op & ~FROM_ACCEPTOR_BIT) !== RelayOp.reset) {
      const { to, from, channel, op } = frame;
      link.sendRelay({ to: from, from: to, channel, op: RelayOp.reset | (~op & FROM_ACCEPTOR_BIT), bytes: noBytes });
    }
  }

  /** Returns the link on which a frame is passed on. The frames of a pipe keep to one path, because paths differ in speed. */
  #nextLink(link: Link, frame: RelayFrame): Link | undefined {
    const { to, op } = frame;
    const isFromAcceptor = (op & FROM_ACCEPTOR_BIT) !== 0;
    const known = this.#relayed.get(relayedKey(frame));
    if (known !== undefined) return isFromAcceptor ? known.toDialler : known.toAcceptor;
    const existing = this.host.linkTo(to);
    return existing ?? (op === RelayOp.data ? this.host.routeTo(to, link.peer) : undefined);
  }

  #noteForwarded(link: Link, next: Link, frame: RelayFrame): void {
    const { to, from, channel, op } = frame;
    const key = relayedKey(frame);
    if ((op & ~FROM_ACCEPTOR_BIT) !== RelayOp.data) {
      this.#forgetRelayed(key);
      return;
    }
    if (this.#relayed.has(key)) return;
    const isFromAcceptor = (op & FROM_ACCEPTOR_BIT) !== 0;
    const [dialler, acceptor] = isFromAcceptor ? [to, from] : [from, to];
    const [toDialler, toAcceptor] = isFromAcceptor ? [next, link] : [link, next];
    this.#relayed.set(key, { dialler, acceptor, channel, toDialler, toAcceptor });
    this.#trackOnLink(toDialler, key, true);
    this.#trackOnLink(toAcceptor, key, true);
  }

  #deliver(link: Link, { from, channel, op, bytes }: RelayFrame): void {
    const side = ~op & FROM_ACCEPTOR_BIT;
    const what = op & ~FROM_ACCEPTOR_BIT;
    let pipe = this.#pipes.get(channelKey(from, channel, side));
    if (pipe === undefined) {
      if (what !== RelayOp.data || side !== FROM_ACCEPTOR_BIT) return;
      pipe = this.#open(channelKey(from, channel, side), new RelayPipe(this, link, from, channel, true));
      this.host.accept(pipe, from);
    }
    if (what === RelayOp.data) pipe.received(bytes);
    else
      pipe.end(
        what === RelayOp.close
          ? undefined
          : new Error("the process that relays to it has no connection to it; it has ended, or its host is cut off"),
      );
  }
}

/** The name of the pipe of a frame at a proc that relays it. */
function relayedKey({ to, from, channel, op }: RelayFrame): string {
  const [dialler, acceptor] = (op & FROM_ACCEPTOR_BIT) !== 0 ? [to, from] : [from, to];
  return `${dialler}/${channelKey(acceptor, channel, 0)}`;
}

function channelKey(peer: ProcId, channel: number, side: number): string {
  return `${peer}/${channel}/${side}`;
}
