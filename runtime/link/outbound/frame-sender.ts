/**
 * Writes the frames that a link sends: the frames that open, bind and close lanes, the answers to calls, and control frames. A session
 * writes its own messages (session.ts).
 */
import type { Codec } from "../../wire/codec.js";
import { losesInLockstep, mayBeNewer } from "../../wire/protobuf/newer-values.js";
import { protobufValue } from "../../wire/protobuf-messages.js";
import type { Writer } from "../../wire/writer.js";
import type { MeshId, ProcId } from "../address.js";
import { type DeliveryError, type DeliveryReason, deliveryReasons } from "../errors.js";
import { type Binding, Layout, type PeerSchema } from "../frame/binding.js";
import { bodySize, writeText, writeU32, writeU64 } from "../frame/control-body.js";
import { beginFrame, FrameFlag, FrameKind, HEADER_BYTES, HELLO_MAGIC, PROTOCOL_VERSION } from "../frame/frame.js";
import { WHOLE_MESH } from "../frame/message-extension.js";
import type { RelayFrame } from "../frame/relay-frame.js";
import type { LinkLimits } from "../link-limits.js";
import { checkMessageSize } from "./encode-message.js";
import type { MessageEncoder, MessageSender, SessionTarget } from "./message-sender.js";
import { Outbox } from "./outbox.js";

/** The contents of a `hello` frame, with which each side of a link introduces itself. */
export interface Introduction {
  readonly universe: bigint;
  readonly id: ProcId;
  /** The number of this link among those that this side has dialled, from 1 on, or 0 if the peer has dialled it. */
  readonly dialNumber: number;
  /** The number of the last link that the peer has dialled and that has ended on this side, or 0 if there is none. */
  readonly lastEnded: number;
}

export class FrameSender {
  readonly limits: LinkLimits;
  readonly outbox: Outbox;
  readonly #extentNumbers = new Map<string, number>();

  constructor(limits: LinkLimits) {
    this.limits = limits;
    this.outbox = new Outbox(limits.firstPage);
  }

  /** Sends the first frame of a link. */
  sendHello({ universe, id, dialNumber, lastEnded }: Introduction): void {
    const w = this.outbox.writer;
    const at = beginFrame(w, FrameKind.hello, PROTOCOL_VERSION, 0);
    writeU32(w, HELLO_MAGIC);
    writeU32(w, 0);
    writeU64(w, universe);
    writeU64(w, id);
    writeU32(w, dialNumber);
    writeU32(w, lastEnded);
    this.outbox.commit(at);
  }

  /** Sends the last frame of a link that ends in order. */
  sendBye(reason: string): void {
    const at = beginFrame(this.outbox.writer, FrameKind.bye, 0, 0);
    writeText(this.outbox.writer, reason);
    this.outbox.commit(at);
  }

  /** Opens a lane for the messages of a sender to a target. */
  sendOpen(lane: number, { id, name }: MessageSender, target: SessionTarget): void {
    const w = this.outbox.writer;
    const { limits } = this;
    const at = beginFrame(w, FrameKind.open, lane, 0);
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
    this.outbox.commit(at);
  }

  /** Closes a lane of this side. The peer answers with `closed`. */
  sendClose(lane: number): void {
    this.#sendEmpty(FrameKind.close, lane, 0);
  }

  /** Returns the number by which the peer knows an extent. The first use sends the extent to the peer. */
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

  /**
   * Answers the binding of an interface.
   * @param other the schema of the receiver, if it differs from the sender's
   */
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
   * Answers a call of the peer, or sends an item of a stream. A value that the lockstep layout cannot represent is sent
   * in the protobuf layout, whichever layout the call had.
   * @param codec undefined for an answer without a value
   * @returns the size of the value in bytes
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
      return this.#sendRefused(word, call, codec, value, error);
    }
  }

  /** Sends in the protobuf layout a value that lockstep has refused, if it may come from a newer schema. Otherwise throws `error`. */
  #sendRefused(word: number, call: number, codec: MessageEncoder, value: unknown, error: unknown): number {
    if (!mayBeNewer(error) || !("protoForm" in codec)) throw error;
    try {
      return this.#sendInProtobuf(word, call, codec, value);
    } catch {
      throw error;
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

  /** Ends a call of the peer with an error. If `write` throws, nothing is sent and the exception passes through. */
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

  /** Tells the owner of a port that an actor holds the port, or no longer holds it. */
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
}
