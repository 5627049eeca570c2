/**
 * The receiving half of a link handles each kind of frame. Everything that a peer sends is checked before it is used.
 * Invalid input closes the link with an error that describes the fault, and affects no other link.
 */
import { isError, thrownMessage } from "../../thrown.js";
import { Reader } from "../../wire/reader.js";
import type { ProcId } from "../address.js";
import { DeliveryError, deliveryReasons, meansTargetEnded } from "../errors.js";
import { type Binding, type BoundEndpoint, Layout, type PeerSchema } from "../frame/binding.js";
import { readBody, readFields, readText, readU32, readU64 } from "../frame/control-body.js";
import { copyBytes, FrameFlag, FrameKind, HELLO_MAGIC, PROTOCOL_VERSION, ProtocolError } from "../frame/frame.js";
import { beginReading, endReading } from "../outbound/flush-schedule.js";
import type { PipeSink } from "../transport/pipe.js";
import { BlockAssembler } from "./block-assembler.js";
import { type BodyMemory, type FrameHandler, Inbox } from "./inbox.js";
import { Lane } from "./lane.js";
import type { LaneRequest } from "./lane-request.js";
import type { ReceivingLink } from "./receiving-link.js";

/** Two flags of frames, as bits of the first word of a header. */
const CREDITED_BIT = FrameFlag.credited << 8;
const PROTOBUF_BIT = FrameFlag.protobuf << 8;

export class LinkReceiver<TLink extends ReceivingLink<TLink>> implements PipeSink, FrameHandler, BodyMemory {
  readonly #link: TLink;
  readonly #inbox: Inbox;
  readonly #reader = new Reader();
  /** The blocks that belong to the next message. */
  #blocks: Uint8Array[] | undefined;
  #blockBytes = 0;
  readonly #assembler: BlockAssembler;
  #hasFarewell = false;
  #stopped = false;

  constructor(link: TLink) {
    this.#link = link;
    this.#inbox = new Inbox(link.limits.maxFrame, this);
    this.#assembler = new BlockAssembler(link.limits.maxFrame);
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

  memoryFor(word1: number, b: number, size: number): Uint8Array | undefined {
    return (word1 & 0xff) === FrameKind.piece && this.#link.isIntroduced
      ? this.#assembler.memoryFor(b, size)
      : undefined;
  }

  closed(error?: Error): void {
    this.stop();
    const lost = error ?? (this.#hasFarewell ? undefined : new Error("the connection ended without a farewell"));
    this.#link.host.linkClosed(this.#link, this.#hasFarewell ? undefined : lost);
  }

  /** Stops handling frames. */
  stop(): void {
    this.#stopped = true;
    this.#inbox.stop();
  }

  handleFrame(
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
    if (!this.#link.isIntroduced && kind !== FrameKind.hello)
      throw new ProtocolError(`cannot read frame: kind ${kind} before hello`);
    if (kind === FrameKind.block || kind === FrameKind.piece) {
      this.#handleBlock(kind, a, b, bytes, start, end, owned);
      return;
    }
    const r = this.#reader;
    r.reset(bytes, view, start, end, this.#blocks);
    const size = end - start + (this.#blocks === undefined ? 0 : this.#takeBlocks());
    if (kind === FrameKind.message) this.#handleMessage(word1, a, b, r, size);
    else if (kind === FrameKind.reply) this.#handleReply(word1, a, r);
    else this.#handleControl(kind, word1, a, b, r, size);
  }

  /** Handles a block of the next message, or a piece of one. */
  #handleBlock(
    kind: number,
    a: number,
    b: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    owned: boolean,
  ): void {
    if (kind === FrameKind.piece) this.#assembler.pieceReceived(b, bytes, start, end, owned);
    else this.#addBlock(a === 1 ? this.#assembler.takeBlock() : owned ? bytes : copyBytes(bytes, start, end));
  }

  /** Forgets the blocks of the message that begins, and returns their number of bytes. */
  #takeBlocks(): number {
    const size = this.#blockBytes;
    this.#blocks = undefined;
    this.#blockBytes = 0;
    return size;
  }

  #handleMessage(word1: number, a: number, b: number, r: Reader, size: number): void {
    const lane = this.#link.lanes[a];
    if (lane === undefined) throw new ProtocolError(`cannot read message: lane ${a} is not open`);
    lane.destination.message(lane, word1 >>> 16, b, (word1 >>> 8) & 0xff, r, size);
  }

  #handleReply(word1: number, a: number, r: Reader): void {
    const link = this.#link;
    const call = link.calls.find(a);
    if (call === undefined) return;
    link.endCall(call);
    if ((word1 & CREDITED_BIT) === 0) call.session!.credited(1, call.credit);
    if (call.isAbandoned) return;
    this.#readLayout(word1);
    call.answered(r);
  }

  /** Sets the layout of an answer or item from the flags of its frame. */
  #readLayout(word1: number): void {
    this.#reader.protobuf = (word1 & PROTOBUF_BIT) !== 0;
  }

  #handleControl(kind: number, word1: number, a: number, b: number, r: Reader, size: number): void {
    switch (kind) {
      case FrameKind.error:
        this.#handleError(word1, a, r);
        break;
      case FrameKind.credit:
        if (b === 0) this.#link.sessions[a]?.reached();
        else this.#link.sessions[a]?.credited(b, readFields(r, "credit", readU32));
        break;
      case FrameKind.item:
        this.#handleItem(word1, a, r, size);
        break;
      case FrameKind.end:
        this.#handleEnd(word1, a);
        break;
      case FrameKind.streamCredit:
        this.#link.streams.get(a)?.credited(b, readFields(r, "streamCredit", readU32));
        break;
      case FrameKind.cancel: {
        const lane = this.#link.lanes[a];
        lane?.destination.cancel(lane, b, word1 >>> 16);
        break;
      }
      case FrameKind.open:
        this.#handleOpen(a, r);
        break;
      case FrameKind.bind:
        this.#handleBind(word1 >>> 16, a, b, r);
        break;
      case FrameKind.bound:
        this.#handleBound(word1 >>> 16, a, b, r);
        break;
      case FrameKind.extent:
        this.#handleExtent(a, r);
        break;
      case FrameKind.close:
        this.#handleClose(a);
        break;
      case FrameKind.closed:
        this.#link.freeLane(a);
        break;
      case FrameKind.gone:
        this.#handleGone(a, b, r);
        break;
      case FrameKind.bounce:
        this.#handleBounce(word1 >>> 16, a, b, r);
        break;
      case FrameKind.sync:
        this.#openLane(a).syncReceived(word1 >>> 16, b);
        break;
      default:
        if (kind >= FrameKind.tree && kind <= FrameKind.treeFlush) {
          const frame = { kind, flags: (word1 >>> 8) & 0xff, slot: word1 >>> 16, a, b };
          this.#link.host.treeFrameReceived(this.#link, frame, r);
        } else this.#handleRare(kind, a, b, r);
        break;
    }
  }

  #handleRare(kind: number, a: number, b: number, r: Reader): void {
    const { host } = this.#link;
    switch (kind) {
      case FrameKind.hello:
        this.#handleHello(a, r);
        break;
      case FrameKind.bye:
        this.#hasFarewell = true;
        return;
      case FrameKind.ask:
        host.meshQueried(this.#link, a, readFields(r, "ask", readU64));
        break;
      case FrameKind.tell:
        host.meshQueryAnswered(this.#link, a, b === 1);
        break;
      case FrameKind.hold:
      case FrameKind.release: {
        const [port, proc, holder] = readBody(r, "hold", () => [readU64(r), readU64(r), readText(r)] as const);
        host.portHolderChanged(this.#link, port, holder, proc, kind === FrameKind.hold);
        break;
      }
      case FrameKind.relay:
        this.#handleRelay(a, b, r);
        break;
      default:
        throw new ProtocolError(`cannot read frame: unknown kind ${kind}`);
    }
  }

  #handleHello(version: number, r: Reader): void {
    if (this.#link.isIntroduced) throw new ProtocolError("cannot read hello: it came twice");
    const magic = readFields(r, "hello", readU32);
    if (magic !== HELLO_MAGIC) throw new ProtocolError("cannot read hello: the peer does not speak this protocol");
    if (version !== PROTOCOL_VERSION) {
      throw new ProtocolError(
        `cannot connect: the peer speaks version ${version} of the protocol, this process ${PROTOCOL_VERSION}; ` +
          "install the same version of viceroy on both sides",
      );
    }
    const [universe, peer] = readFields(r, "hello", () => {
      readU32(r);
      return [readU64(r), readU64(r)] as const;
    });
    if (universe !== this.#link.host.universe)
      throw new ProtocolError("cannot connect: the peer is of another universe");
    if (this.#link.peer !== undefined && this.#link.peer !== peer) {
      throw new ProtocolError("cannot connect: the peer is another process than expected");
    }
    // Earlier releases do not send these two fields.
    const [number, over] = readFields(r, "hello", () => (r.position < r.end ? [readU32(r), readU32(r)] : [0, 0]));
    this.#link.peer = peer;
    this.#link.isIntroduced = true;
    if (!this.#link.isDialler) this.#link.dialNumber = number;
    this.#link.host.linkOpened(this.#link, this.#link.isDialler ? 0 : over);
  }

  #handleOpen(a: number, r: Reader): void {
    const link = this.#link;
    if (a === 0 || a > link.lanes.length || link.lanes[a] !== undefined) {
      throw new ProtocolError(`cannot open lane ${a}: expected a free number, at most ${link.lanes.length}`);
    }
    const request = readBody(r, "open", () => readOpen(r, link.host));
    const destination = link.host.laneOpened(link, request);
    link.lanes[a] = new Lane(link, a, request, destination);
  }

  #handleBind(base: number, a: number, layout: number, r: Reader): void {
    const lane = this.#openLane(a);
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

  #handleBound(base: number, a: number, verdict: number, r: Reader): void {
    if (verdict > 1) throw new ProtocolError(`cannot read bound: unknown verdict ${verdict}`);
    const other = readBody(r, "bound", () => (verdict === 1 ? readPeerSchema(r) : undefined));
    const session = this.#link.sessions[a];
    if (session === undefined || session.isOver) return;
    if (!session.bindingAnswered(base, other)) {
      throw new ProtocolError(`cannot read bound: slot ${base} of lane ${a} does not wait for it`);
    }
  }

  #handleExtent(a: number, r: Reader): void {
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

  #handleError(word1: number, a: number, r: Reader): void {
    const link = this.#link;
    const call = link.calls.find(a);
    if (call === undefined) return;
    const error = link.host.readError(r);
    const session = call.session!;
    if (error instanceof DeliveryError && meansTargetEnded(error)) session.targetEnded();
    link.endCall(call);
    if ((word1 & CREDITED_BIT) === 0) call.session!.credited(1, call.credit);
    if (!call.isAbandoned) call.failed(error);
  }

  #handleItem(word1: number, a: number, r: Reader, size: number): void {
    const call = this.#link.calls.find(a);
    if (call === undefined || call.isAbandoned) return;
    this.#readLayout(word1);
    call.item(r, size);
  }

  #handleEnd(word1: number, a: number): void {
    const link = this.#link;
    const call = link.calls.find(a);
    if (call === undefined) return;
    link.endCall(call);
    if ((word1 & CREDITED_BIT) === 0) call.session!.credited(1, call.credit);
    if (!call.isAbandoned) call.ended();
  }

  #handleClose(a: number): void {
    const lane = this.#openLane(a);
    this.#link.lanes[a] = undefined;
    this.#link.sendClosed(a);
    lane.isOpen = false;
    lane.destination.laneClosed(lane);
  }

  #handleGone(a: number, b: number, r: Reader): void {
    const message = readBody(r, "gone", () => readText(r));
    const session = this.#link.sessions[a];
    if (session === undefined || session.isOver) return;
    session.end(new DeliveryError(deliveryReasons[b] ?? "unknown", message));
    this.#link.closeSession(session);
  }

  #handleBounce(slot: number, a: number, b: number, r: Reader): void {
    const message = readBody(r, "bounce", () => readText(r));
    const session = this.#link.sessions[a];
    if (session === undefined) return;
    const error = new DeliveryError(deliveryReasons[b] ?? "unknown", message);
    if (meansTargetEnded(error)) session.targetEnded();
    session.sender.bounced(session, slot, error);
  }

  #handleRelay(channel: number, op: number, r: Reader): void {
    const [to, from] = readFields(r, "relay", () => [readU64(r), readU64(r)] as const);
    const bytes = r.bytes.subarray(r.position, r.end);
    this.#link.host.relayFrameReceived(this.#link, { to, from, channel, op, bytes });
  }

  #addBlock(bytes: Uint8Array): void {
    this.#blocks ??= [];
    this.#blocks.push(bytes);
    this.#blockBytes += bytes.length;
    if (this.#blockBytes > this.#link.limits.maxFrame)
      throw new ProtocolError("cannot read blocks: together too large");
  }

  #openLane(a: number): Lane {
    const lane = this.#link.lanes[a];
    if (lane === undefined) throw new ProtocolError(`cannot read frame: lane ${a} is not open`);
    return lane;
  }
}

function readBinding(r: Reader, firstSlot: number, layout: number): Binding {
  const fingerprint = readU64(r);
  const key = readText(r);
  const endpoints: BoundEndpoint[] = [];
  if (layout === Layout.protobuf) {
    for (let left = readU32(r); left > 0; left--) endpoints.push({ id: readU32(r), name: readText(r) });
  }
  return { firstSlot, layout, key, fingerprint, endpoints };
}

function readPeerSchema(r: Reader): PeerSchema {
  return { fingerprint: readU64(r), description: readText(r) };
}

function readOpen(r: Reader, { id, universe }: { readonly id: ProcId; readonly universe: bigint }): LaneRequest {
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
  return {
    sender: { universe, proc, mesh, rank, incarnation, name: readText(r) },
    target: { kind, proc: id, number, rank: targetRank, owner, fingerprint },
    credit,
  };
}
