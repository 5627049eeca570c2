/**
 * The receiving half of a link: what each kind of frame does. Everything a peer sends is checked before it is used;
 * whatever is wrong with it closes the link with an error that says so, and harms nobody else.
 */
import { isError, thrownMessage } from "../thrown.js";
import { Reader } from "../wire/reader.js";
import { type Binding, type BoundEndpoint, Layout, type OtherSchema } from "./binding.js";
import { readBody, readText, readU32, readU64 } from "./control.js";
import { DeliveryError, deliveryReasons, meansEnded } from "./errors.js";
import { beginReading, endReading } from "./flushing.js";
import { copyBytes, Flag, Kind, MAGIC, PROTOCOL_VERSION, ProtocolError } from "./frame.js";
import type { LaneRequest } from "./host.js";
import { type BodyPlaces, type FrameHandler, Inbox } from "./inbox.js";
import { Lane } from "./lane.js";
import type { Link } from "./link.js";
import { Pieces } from "./pieces.js";
import type { PipeSink } from "./pipe.js";

export class Receiver implements PipeSink, FrameHandler, BodyPlaces {
  readonly #link: Link;
  readonly #inbox: Inbox;
  readonly #reader = new Reader();
  /** Blocks that have come for the next message. */
  #blocks: Uint8Array[] | undefined;
  #blockBytes = 0;
  readonly #pieces: Pieces;
  #farewell = false;
  #stopped = false;

  constructor(link: Link) {
    this.#link = link;
    this.#inbox = new Inbox(link.limits.maxFrame, this);
    this.#pieces = new Pieces(link.limits.maxFrame);
  }

  buffer(): Uint8Array {
    return this.#inbox.buffer();
  }

  received(n: number): void {
    if (this.#stopped) return;
    beginReading();
    try {
      this.#inbox.received(n);
    } catch (error) {
      this.stop();
      this.#link.fault = isError(error) ? error : new Error(thrownMessage(error));
      this.#link.destroy(this.#link.fault);
    } finally {
      endReading();
    }
  }

  placeOf(word1: number, b: number, size: number): Uint8Array | undefined {
    return (word1 & 0xff) === Kind.piece && this.#link.introduced ? this.#pieces.placeOf(b, size) : undefined;
  }

  closed(error?: Error): void {
    this.stop();
    const lost = error ?? (this.#farewell ? undefined : new Error("the connection ended without a farewell"));
    this.#link.host.linkClosed(this.#link, this.#farewell ? undefined : lost);
  }

  /** Hands out nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#inbox.stop();
  }

  frame(
    word1: number,
    a: number,
    b: number,
    bytes: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    owned: boolean,
  ): void {
    const kind = word1 & 0xff;
    if (!this.#link.introduced && kind !== Kind.hello)
      throw new ProtocolError(`cannot read frame: kind ${kind} before hello`);
    if (kind === Kind.block) {
      this.#block(a === 1 ? this.#pieces.taken() : owned ? bytes : copyBytes(bytes, start, end));
      return;
    }
    if (kind === Kind.piece) {
      this.#pieces.received(b, bytes, start, end, owned);
      return;
    }
    const r = this.#reader;
    const blocks = this.#blocks;
    let size = end - start;
    if (blocks !== undefined) {
      size += this.#blockBytes;
      this.#blocks = undefined;
      this.#blockBytes = 0;
    }
    r.reset(bytes, view, start, end, blocks);
    if (kind === Kind.message) this.#message(word1, a, b, r, size);
    else if (kind === Kind.reply) this.#reply(word1, a, r);
    else this.#other(kind, word1, a, b, r, size);
  }

  #message(word1: number, a: number, b: number, r: Reader, size: number): void {
    const lane = this.#link.lanes[a];
    if (lane === undefined) throw new ProtocolError(`cannot read message: lane ${a} is not open`);
    lane.destination.message(lane, word1 >>> 16, b, (word1 >>> 8) & 0xff, r, size);
  }

  #reply(word1: number, a: number, r: Reader): void {
    const link = this.#link;
    const call = link.calls.find(a);
    if (call === undefined) return;
    link.endCall(call);
    if (((word1 >>> 8) & Flag.credited) === 0) call.session!.credited(1, call.credit);
    if (call.abandoned) return;
    this.#layout(word1);
    call.answered(r);
  }

  /** The layout that an answer or an item says it is in. */
  #layout(word1: number): void {
    this.#reader.protobuf = ((word1 >>> 8) & Flag.protobuf) !== 0;
  }

  #other(kind: number, word1: number, a: number, b: number, r: Reader, size: number): void {
    switch (kind) {
      case Kind.error:
        this.#error(word1, a, r);
        break;
      case Kind.credit:
        if (b === 0) this.#link.sessions[a]?.leaving?.handled();
        else this.#link.sessions[a]?.credited(b, readU32(r));
        break;
      case Kind.item:
        this.#item(word1, a, r, size);
        break;
      case Kind.end:
        this.#end(word1, a);
        break;
      case Kind.streamCredit:
        this.#link.streams.get(a)?.credited(b, readU32(r));
        break;
      case Kind.cancel: {
        const lane = this.#link.lanes[a];
        lane?.destination.cancel(lane, b, word1 >>> 16);
        break;
      }
      case Kind.open:
        this.#open(a, r);
        break;
      case Kind.bind:
        this.#bind(word1 >>> 16, a, b, r);
        break;
      case Kind.bound:
        this.#bound(word1 >>> 16, a, b, r);
        break;
      case Kind.extent:
        this.#extent(a, r);
        break;
      case Kind.close:
        this.#close(a);
        break;
      case Kind.closed:
        this.#link.laneForgotten(a);
        break;
      case Kind.gone:
        this.#gone(a, b, r);
        break;
      case Kind.bounce:
        this.#bounce(word1 >>> 16, a, b, r);
        break;
      case Kind.sync:
        this.#lane(a).sync(word1 >>> 16, b);
        break;
      default:
        if (kind >= Kind.tree && kind <= Kind.treeFlush) {
          const frame = { kind, flags: (word1 >>> 8) & 0xff, slot: word1 >>> 16, a, b };
          this.#link.host.treeFrame(this.#link, frame, r);
        } else this.#seldom(kind, a, b, r);
        break;
    }
  }

  #seldom(kind: number, a: number, b: number, r: Reader): void {
    const { host } = this.#link;
    switch (kind) {
      case Kind.hello:
        this.#hello(a, r);
        break;
      case Kind.bye:
        this.#farewell = true;
        return;
      case Kind.ask:
        host.asked(this.#link, a, readU64(r));
        break;
      case Kind.tell:
        host.told(this.#link, a, b === 1);
        break;
      case Kind.hold:
      case Kind.release: {
        const [port, proc, holder] = readBody(r, "hold", () => [readU64(r), readU64(r), readText(r)] as const);
        host.portHeld(this.#link, port, holder, proc, kind === Kind.hold);
        break;
      }
      case Kind.relay:
        this.#relay(a, b, r);
        break;
      default:
        throw new ProtocolError(`cannot read frame: unknown kind ${kind}`);
    }
  }

  #hello(version: number, r: Reader): void {
    if (this.#link.introduced) throw new ProtocolError("cannot read hello: it came twice");
    const magic = readU32(r);
    if (magic !== MAGIC) throw new ProtocolError("cannot read hello: the peer does not speak this protocol");
    if (version !== PROTOCOL_VERSION) {
      throw new ProtocolError(
        `cannot connect: the peer speaks version ${version} of the protocol, this process ${PROTOCOL_VERSION}; ` +
          "install the same version of viceroy on both sides",
      );
    }
    readU32(r);
    const universe = readU64(r);
    if (universe !== this.#link.host.universe)
      throw new ProtocolError("cannot connect: the peer is of another universe");
    const peer = readU64(r);
    if (this.#link.peer !== undefined && this.#link.peer !== peer) {
      throw new ProtocolError("cannot connect: the peer is another process than expected");
    }
    this.#link.peer = peer;
    this.#link.introduced = true;
    // Those of earlier releases say nothing of it.
    const [number, over] = r.position < r.end ? [readU32(r), readU32(r)] : [0, 0];
    if (!this.#link.dialled) this.#link.number = number;
    this.#link.host.linkOpened(this.#link, this.#link.dialled ? 0 : over);
  }

  #open(a: number, r: Reader): void {
    const link = this.#link;
    if (a === 0 || a > link.lanes.length || link.lanes[a] !== undefined) {
      throw new ProtocolError(`cannot open lane ${a}: expected a free number, at most ${link.lanes.length}`);
    }
    const request = readBody(r, "open", () => readOpen(r, link));
    const destination = link.host.laneOpened(link, request);
    link.lanes[a] = new Lane(link, a, request, destination);
  }

  #bind(base: number, a: number, layout: number, r: Reader): void {
    const lane = this.#lane(a);
    if (layout > Layout.none) {
      throw new ProtocolError(
        `cannot bind lane ${a}: unknown layout ${layout}; this process knows lockstep (0), protobuf (1) and none (2)`,
      );
    }
    lane.destination.bind(
      lane,
      readBody(r, "bind", () => readBinding(r, base, layout)),
    );
  }

  #bound(base: number, a: number, verdict: number, r: Reader): void {
    if (verdict > 1) throw new ProtocolError(`cannot read bound: unknown verdict ${verdict}`);
    const other = readBody(r, "bound", () => (verdict === 1 ? readOther(r) : undefined));
    const session = this.#link.sessions[a];
    if (session === undefined || session.over) return;
    if (!session.bound(base, other)) {
      throw new ProtocolError(`cannot read bound: slot ${base} of lane ${a} does not wait for it`);
    }
  }

  #extent(a: number, r: Reader): void {
    const { extents } = this.#link;
    if (a !== extents.length) throw new ProtocolError(`cannot number an extent ${a}: expected ${extents.length}`);
    extents.push(
      readBody(r, "extent", () => {
        const entries: [string, number][] = [];
        for (let left = readU32(r); left > 0; left--) entries.push([readText(r), readU32(r)]);
        return Object.freeze(Object.fromEntries(entries));
      }),
    );
  }

  #error(word1: number, a: number, r: Reader): void {
    const link = this.#link;
    const call = link.calls.find(a);
    if (call === undefined) return;
    const error = link.host.readError(r);
    const session = call.session!;
    if (error instanceof DeliveryError && meansEnded(error)) session.targetEnded();
    link.endCall(call);
    if (((word1 >>> 8) & Flag.credited) === 0) call.session!.credited(1, call.credit);
    if (!call.abandoned) call.failed(error);
  }

  #item(word1: number, a: number, r: Reader, size: number): void {
    const call = this.#link.calls.find(a);
    if (call === undefined || call.abandoned) return;
    this.#layout(word1);
    call.item(r, size);
  }

  #end(word1: number, a: number): void {
    const link = this.#link;
    const call = link.calls.find(a);
    if (call === undefined) return;
    link.endCall(call);
    if (((word1 >>> 8) & Flag.credited) === 0) call.session!.credited(1, call.credit);
    if (!call.abandoned) call.ended();
  }

  #close(a: number): void {
    const lane = this.#lane(a);
    this.#link.lanes[a] = undefined;
    this.#link.sendClosed(a);
    lane.open = false;
    lane.destination.laneClosed(lane);
  }

  #gone(a: number, b: number, r: Reader): void {
    const message = readBody(r, "gone", () => readText(r));
    const session = this.#link.sessions[a];
    if (session === undefined || session.over) return;
    session.end(new DeliveryError(deliveryReasons[b] ?? "unknown", message));
    this.#link.closeSession(session);
  }

  #bounce(slot: number, a: number, b: number, r: Reader): void {
    const message = readBody(r, "bounce", () => readText(r));
    const session = this.#link.sessions[a];
    if (session === undefined) return;
    const error = new DeliveryError(deliveryReasons[b] ?? "unknown", message);
    if (meansEnded(error)) session.targetEnded();
    session.sender.bounced(session, slot, error);
  }

  #relay(channel: number, op: number, r: Reader): void {
    const to = readU64(r);
    const from = readU64(r);
    const bytes = r.bytes.subarray(r.position, r.end);
    this.#link.host.relayed(this.#link, { to, from, channel, op, bytes });
  }

  #block(bytes: Uint8Array): void {
    this.#blocks ??= [];
    this.#blocks.push(bytes);
    this.#blockBytes += bytes.length;
    if (this.#blockBytes > this.#link.limits.maxFrame)
      throw new ProtocolError("cannot read blocks: together too large");
  }

  #lane(a: number): Lane {
    const lane = this.#link.lanes[a];
    if (lane === undefined) throw new ProtocolError(`cannot read frame: lane ${a} is not open`);
    return lane;
  }
}

function readBinding(r: Reader, base: number, layout: number): Binding {
  const fingerprint = readU64(r);
  const key = readText(r);
  const endpoints: BoundEndpoint[] = [];
  if (layout === Layout.protobuf) {
    for (let left = readU32(r); left > 0; left--) endpoints.push({ id: readU32(r), name: readText(r) });
  }
  return { base, layout, key, fingerprint, endpoints };
}

function readOther(r: Reader): OtherSchema {
  return { fingerprint: readU64(r), description: readText(r) };
}

function readOpen(r: Reader, link: Link): LaneRequest {
  const proc = readU64(r);
  const mesh = readU64(r);
  const rank = readU32(r);
  const incarnation = readU32(r);
  const credit = { messages: readU32(r), bytes: readU32(r), streamItems: readU32(r), streamBytes: readU32(r) };
  const number = readU64(r);
  const owner = readU64(r);
  const fingerprint = readU64(r);
  const targetRank = readU32(r);
  const kind = readU32(r) === 1 ? "port" : "actor";
  const { id, universe } = link.host;
  return {
    sender: { universe, proc, mesh, rank, incarnation, name: readText(r) },
    target: { kind, proc: id, number, rank: targetRank, owner, fingerprint },
    credit,
  };
}
