/**
 * A link: frames in both directions over one pipe, between this proc and one peer. This is its state and its sending
 * half: lanes, calls, and a method for each kind of frame. What comes in is handed out by receiver.ts. Knows nothing of
 * the transport below the pipe, and nothing of actors.
 */
import type { Codec } from "../wire/codec.js";
import { losesInLockstep, mayBeNewer } from "../wire/protobuf/newer-values.js";
import { protobufValue } from "../wire/protobuf-messages.js";
import type { Writer } from "../wire/writer.js";
import { AGENT_MESH, type MeshId, type ProcId } from "./address.js";
import { type DeliveryError, type DeliveryReason, deliveryReasons } from "./errors.js";
import { type Binding, Layout, type PeerSchema } from "./frame/binding.js";
import { bodySize, writeText, writeU32, writeU64 } from "./frame/control-body.js";
import { beginFrame, FrameFlag, FrameKind, HEADER_BYTES, HELLO_MAGIC, PROTOCOL_VERSION } from "./frame/frame.js";
import { WHOLE_MESH } from "./frame/message-extension.js";
import type { Lane } from "./inbound/lane.js";
import { LinkReceiver } from "./inbound/link-receiver.js";
import type { LinkHost, RelayFrame } from "./link-host.js";
import type { LinkLimits } from "./link-limits.js";
import { checkMessageSize } from "./outbound/encode-message.js";
import { Outbox } from "./outbound/outbox.js";
import { type PendingCall, PendingCalls } from "./outbound/pending-calls.js";
import { type MessageEncoder, type MessageSender, Session, type SessionTarget } from "./outbound/session.js";
import type { Pipe } from "./transport/pipe.js";

/** The producing end of a stream. */
export interface StreamSource {
  /** The consumer has taken items. */
  credited(items: number, bytes: number): void;
}

export class Link {
  readonly host: LinkHost;
  readonly limits: LinkLimits;
  readonly outbox: Outbox;
  readonly calls = new PendingCalls();
  /** Lanes that the peer has opened, by their numbers. */
  readonly lanes: (Lane | undefined)[] = [undefined];
  /** Lanes that this side has opened, by their numbers. */
  readonly sessions: (Session | undefined)[] = [undefined];
  /** Sizes by name that the peer has numbered; number 0 is never used. */
  readonly extents: Readonly<Record<string, number>>[] = [{}];
  /** Streams that this side produces, by the peer's call. */
  readonly streams = new Map<number, StreamSource>();
  /** Known when the peer has introduced itself, or given. */
  peer: ProcId | undefined;
  /** The peer has introduced itself. */
  isIntroduced = false;
  /** Why nothing goes over it any more. */
  ended: DeliveryError | undefined;
  /** The error that this side met in the peer's frames; undefined if the link has not ended because of one. */
  fault: Error | undefined;
  /** Whether this side has dialled: a peer that never answers was not there. */
  readonly isDialler: boolean;
  /** Which of its dialler's links this is, from 1 on; 0: nobody has dialled it, or who has does not say. */
  dialNumber: number;
  /** Whether the receiver of one of its sessions has moved. */
  hasUnhandled = false;
  readonly #freeLanes: number[] = [];
  readonly #extentNumbers = new Map<string, number>();
  readonly #receiver: LinkReceiver;
  #pipe: Pipe | undefined;
  #isClosing = false;

  /**
   * Frames can be sent at once; they leave when the link has a pipe.
   * @param dialling of one that this side dials: its number, and that of the last link which the peer has dialled and which is over here
   */
  constructor(host: LinkHost, peer: ProcId | undefined, dialling?: { readonly number: number; readonly over: number }) {
    this.host = host;
    this.isDialler = dialling !== undefined;
    this.dialNumber = dialling?.number ?? 0;
    this.limits = host.limits;
    this.outbox = new Outbox(host.limits.firstPage);
    this.peer = peer;
    this.#receiver = new LinkReceiver(this);
    this.#sendHello(dialling?.over ?? 0);
  }

  /** Gives the link its pipe. */
  attach(pipe: Pipe): void {
    this.#pipe = pipe;
    if (this.ended !== undefined && !this.#isClosing) {
      pipe.destroy();
      return;
    }
    pipe.open(this.#receiver);
    this.outbox.attach(pipe);
  }

  /** Says farewell and closes the pipe when everything has been sent. */
  close(reason: string): void {
    if (this.#isClosing || this.ended !== undefined) return;
    this.#isClosing = true;
    const at = beginFrame(this.outbox.writer, FrameKind.bye, 0, 0);
    writeText(this.outbox.writer, reason);
    this.outbox.commit(at);
    this.outbox.finish(() => this.#pipe?.close());
  }

  /** Whether this side has said farewell. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Ends the pipe at once, because of what the peer sent or because it is known to be dead. */
  destroy(error?: Error): void {
    this.#receiver.stop();
    this.#pipe?.destroy(error);
  }

  /** There is no way to the peer. */
  failUnreachable(error: DeliveryError): void {
    this.#receiver.stop();
    this.host.linkClosed(this, error);
  }

  /** The end: pending calls fail with `error`, sessions and lanes are over. Idempotent. */
  end(error: DeliveryError): void {
    if (this.ended !== undefined) return;
    this.ended = error;
    // A link that this side has closed still sends what was written before the farewell.
    if (!this.#isClosing) this.outbox.end();
    this.#receiver.stop();
    for (const session of this.sessions) session?.end(error);
    for (const call of this.calls.all()) {
      this.endCall(call);
      if (!call.isAbandoned) call.failed(error);
    }
    for (const lane of this.lanes) {
      if (lane === undefined) continue;
      lane.isOpen = false;
      lane.destination.laneClosed(lane);
    }
    this.sessions.length = 1;
    this.lanes.length = 1;
    this.streams.clear();
  }

  /** @param key what the sender knows the session by */
  openSession(sender: MessageSender, target: SessionTarget, key: unknown): Session {
    const lane = this.#freeLanes.pop() ?? this.sessions.length;
    const session = new Session(this, lane, sender, target, key);
    this.sessions[lane] = session;
    if (target.kind === "actor" && target.number === AGENT_MESH) this.outbox.orderedLanes.add(lane);
    else this.outbox.orderedLanes.delete(lane);
    const at = beginFrame(this.outbox.writer, FrameKind.open, lane, 0);
    writeOpen(this.outbox.writer, sender, target, this.limits);
    this.outbox.commit(at);
    return session;
  }

  /** The sender will not use the session any more. Its number is free when the peer says so. */
  closeSession(session: Session): void {
    if (this.ended === undefined && this.sessions[session.lane] === session)
      this.#sendEmpty(FrameKind.close, session.lane, 0);
  }

  /** Resolves when everything has been sent that was handed to its sessions, or never will be. */
  async whenAllSent(): Promise<void> {
    const sessions = this.sessions.filter((session) => session !== undefined);
    await Promise.all(sessions.map((session) => new Promise<void>((sent) => session.afterAllSent(sent))));
  }

  /** The peer has forgotten a lane. */
  freeLane(lane: number): void {
    if (this.sessions[lane] === undefined) return;
    this.sessions[lane] = undefined;
    this.#freeLanes.push(lane);
  }

  /** A pending call holds the process, also when nobody looks at it. */
  holdProcess(): void {
    this.host.keepAlive.hold();
  }

  releaseProcess(): void {
    this.host.keepAlive.release();
  }

  /** A call has ended: forgets it. */
  endCall(call: PendingCall): void {
    if (!call.isAbandoned) this.host.keepAlive.release();
    this.calls.remove(call);
    if (this.hasUnhandled) call.session?.unhandled?.callEnded(call);
  }

  /** Nobody waits for a call any more; its record stays until it has ended. */
  abandonCall(call: PendingCall): void {
    if (call.isAbandoned) return;
    call.isAbandoned = true;
    this.host.keepAlive.release();
    if (this.hasUnhandled) call.session?.unhandled?.callEnded(call);
  }

  /** The number by which the peer knows an extent; tells it on first use. */
  numberOfExtent(extent: Readonly<Record<string, number>>): number {
    const key = Object.entries(extent).join();
    const known = this.#extentNumbers.get(key);
    if (known !== undefined) return known;
    const number = WHOLE_MESH + 1 + this.#extentNumbers.size;
    this.#extentNumbers.set(key, number);
    const w = this.outbox.writer;
    const at = beginFrame(w, FrameKind.extent, number, 0);
    const entries = Object.entries(extent);
    writeU32(w, entries.length);
    for (const [name, size] of entries) {
      writeText(w, name);
      writeU32(w, size);
    }
    this.outbox.commit(at);
    return number;
  }

  sendBind(lane: number, { firstSlot, layout, key, fingerprint, endpoints }: Binding): void {
    const w = this.outbox.writer;
    const at = beginFrame(w, FrameKind.bind | (firstSlot << 16), lane, layout);
    writeU64(w, fingerprint);
    writeText(w, key);
    if (layout === Layout.protobuf) {
      writeU32(w, endpoints.length);
      for (const { id, name } of endpoints) {
        writeU32(w, id);
        writeText(w, name);
      }
    }
    this.outbox.commit(at);
  }

  /** @param other undefined: the sender can go on */
  sendBound(lane: number, base: number, other: PeerSchema | undefined): void {
    const w = this.outbox.writer;
    const at = beginFrame(w, FrameKind.bound | (base << 16), lane, other === undefined ? 0 : 1);
    if (other !== undefined) {
      writeU64(w, other.fingerprint);
      writeText(w, other.description);
    }
    this.outbox.commit(at);
  }

  /**
   * Answers a call of the peer. `codec` undefined: with nothing. A value that says more than the schema does goes in the
   * protobuf layout, whichever the call came in.
   * @throws CodecError, MessageSizeError: then nothing has been sent
   */
  sendReply(kind: number, call: number, credited: boolean, codec: MessageEncoder | undefined, value: unknown): number {
    const word = credited ? kind | (FrameFlag.credited << 8) : kind;
    if (codec === undefined) {
      this.#sendEmpty(word, call, 0);
      return 0;
    }
    if (losesInLockstep(codec, value)) return this.#sendInProtobuf(word, call, codec, value);
    try {
      return this.#sendValue(word, call, codec, value);
    } catch (error) {
      if (!mayBeNewer(error) || !("protoForm" in codec)) throw error;
      try {
        return this.#sendInProtobuf(word, call, codec, value);
      } catch {
        throw error;
      }
    }
  }

  #sendInProtobuf(word: number, call: number, codec: MessageEncoder, value: unknown): number {
    return this.#sendValue(word | (FrameFlag.protobuf << 8), call, protobufValue(codec as Codec<unknown>), value);
  }

  #sendValue(word: number, call: number, codec: MessageEncoder, value: unknown): number {
    const w = this.outbox.writer;
    const at = beginFrame(w, word, call, 0);
    try {
      this.outbox.beginValue();
      try {
        codec.encodeInto(w, value);
      } finally {
        this.outbox.endValue(w);
      }
      const size = w.blocks.length === 0 ? w.position - at - HEADER_BYTES : bodySize(w, at);
      checkMessageSize("the answer", size, this.limits);
      this.outbox.commit(at);
      return size;
    } catch (error) {
      w.restore(at, 0);
      throw error;
    }
  }

  /** Ends a call of the peer with an error. @throws what `write` throws: then nothing has been sent */
  sendError(call: number, credited: boolean, write: (w: Writer) => void): void {
    const w = this.outbox.writer;
    const at = beginFrame(w, credited ? FrameKind.error | (FrameFlag.credited << 8) : FrameKind.error, call, 0);
    try {
      write(w);
      this.outbox.commit(at);
    } catch (error) {
      w.restore(at, 0);
      throw error;
    }
  }

  sendEnd(call: number): void {
    this.#sendEmpty(FrameKind.end | (FrameFlag.credited << 8), call, 0);
  }

  sendStreamCredit(call: number, items: number, bytes: number): void {
    const at = beginFrame(this.outbox.writer, FrameKind.streamCredit, call, items);
    writeU32(this.outbox.writer, bytes);
    this.outbox.commit(at);
  }

  sendCancel(lane: number, call: number, reason: number): void {
    this.#sendEmpty(FrameKind.cancel | (reason << 16), lane, call);
  }

  sendGone(lane: number, reason: DeliveryReason, message: string): void {
    const at = beginFrame(this.outbox.writer, FrameKind.gone, lane, deliveryReasons.indexOf(reason));
    writeText(this.outbox.writer, message);
    this.outbox.commit(at);
  }

  sendBounce(lane: number, slot: number, error: DeliveryError): void {
    const at = beginFrame(
      this.outbox.writer,
      FrameKind.bounce | (slot << 16),
      lane,
      deliveryReasons.indexOf(error.reason),
    );
    writeText(this.outbox.writer, error.message);
    this.outbox.commit(at);
  }

  sendClosed(lane: number): void {
    this.#sendEmpty(FrameKind.closed, lane, 0);
  }

  sendAsk(question: number, mesh: MeshId): void {
    const at = beginFrame(this.outbox.writer, FrameKind.ask, question, 0);
    writeU64(this.outbox.writer, mesh);
    this.outbox.commit(at);
  }

  sendTell(question: number, exists: boolean): void {
    this.#sendEmpty(FrameKind.tell, question, exists ? 1 : 0);
  }

  /** Tells the owner of a port which actor holds it, or no longer does. */
  sendHold(held: boolean, port: bigint, holder: string, proc: ProcId): void {
    const w = this.outbox.writer;
    const at = beginFrame(w, held ? FrameKind.hold : FrameKind.release, 0, 0);
    writeU64(w, port);
    writeU64(w, proc);
    writeText(w, holder);
    this.outbox.commit(at);
  }

  sendRelay({ to, from, channel, op, bytes }: RelayFrame): void {
    const w = this.outbox.writer;
    const at = beginFrame(w, FrameKind.relay, channel, op);
    writeU64(w, to);
    writeU64(w, from);
    const start = w.reserve(bytes.length);
    w.bytes.set(bytes, start);
    this.outbox.commit(at);
  }

  #sendEmpty(word1: number, a: number, b: number): void {
    this.outbox.commit(beginFrame(this.outbox.writer, word1, a, b));
  }

  #sendHello(over: number): void {
    const w = this.outbox.writer;
    const at = beginFrame(w, FrameKind.hello, PROTOCOL_VERSION, 0);
    writeU32(w, HELLO_MAGIC);
    writeU32(w, 0);
    writeU64(w, this.host.universe);
    writeU64(w, this.host.id);
    writeU32(w, this.dialNumber);
    writeU32(w, over);
    this.outbox.commit(at);
  }
}

function writeOpen(w: Writer, { id, name }: MessageSender, target: SessionTarget, limits: LinkLimits): void {
  writeU64(w, id.proc);
  writeU64(w, id.mesh);
  writeU32(w, id.rank);
  writeU32(w, id.incarnation);
  writeU32(w, limits.creditMessages);
  writeU32(w, limits.creditBytes);
  writeU32(w, limits.streamItems);
  writeU32(w, limits.streamBytes);
  writeU64(w, target.number);
  writeU64(w, target.owner);
  writeU64(w, target.fingerprint);
  writeU32(w, target.rank);
  writeU32(w, target.kind === "port" ? 1 : 0);
  writeText(w, name);
}
