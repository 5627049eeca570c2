/**
 * A session: all messages of one sender to one destination, in order, over whatever handle or adverb they were sent.
 * Here it is a lane of one link, whose pipe keeps order: the place of a message on its lane is its sequence number, and
 * nothing is acknowledged but by credit. Without credit messages wait here, up to the send window.
 */

import { errorMessage } from "../../../shared/text/error-message.js";
import { losesInLockstep, mayBeNewer } from "../../wire/protobuf/newer-values.js";
import { BackpressureError, DeliveryError, meansTargetEnded } from "../errors.js";
import { Layout, type PeerSchema } from "../frame/binding.js";
import { bodySize } from "../frame/control-body.js";
import { beginFrame, copyBytes, FrameFlag, FrameKind, HEADER_BYTES, SyncKind } from "../frame/frame.js";
import { extensionSize, type MessageExtension, writeExtension } from "../frame/message-extension.js";
import type { Link } from "../link.js";
import { CreditQueue, type EncodedMessage, isSyncMark, type SyncMark } from "./credit-queue.js";
import { checkMessageSize, encodeMessage } from "./encode-message.js";
import type {
  CastOrder,
  CreditWaiter,
  MessageInterface,
  MessageSender,
  OutboundMessage,
  SessionTarget,
} from "./message-sender.js";
import type { PendingCall } from "./pending-calls.js";
import {
  isNegotiatedInterface,
  type NegotiatedInterface,
  SchemaAgreement,
  type SentMessage,
} from "./schema-agreement.js";
import { UnhandledMessages } from "./unhandled-messages.js";

export type {
  BoundMessage,
  CastOrder,
  CreditWaiter,
  MessageEncoder,
  MessageInterface,
  MessageSender,
  OutboundMessage,
  SessionTarget,
} from "./message-sender.js";

/** Stands first in the queue of a session whose messages wait for others: it keeps them from being sent at once. */
const HOLD_MARK: SyncMark = { sync: -1, casts: 0 };

export class Session {
  readonly link: Link;
  readonly lane: number;
  readonly sender: MessageSender;
  readonly target: SessionTarget;
  /** Why nothing can be sent any more. */
  ended: DeliveryError | undefined;
  /** Of a sender that also casts to the actor by other ways. */
  castOrder: CastOrder | undefined;
  /** Undefined: everything is lockstep, and the receiver knows it. */
  #agreement: SchemaAgreement | undefined;
  /** Un-consumed by the receiver, as far as is known. */
  #unconsumedMessages = 0;
  #unconsumedBytes = 0;
  #queue: CreditQueue | undefined;
  #firstInterface: MessageInterface | undefined;
  #furtherInterfaces: Map<MessageInterface, number> | undefined;
  #nextSlot = 0;
  #isClosing = false;
  #hasMoved = false;
  #isOver = false;
  /** Set from the moment when the receiver moves until the messages that were sent before have been handled. */
  unhandled: UnhandledMessages | undefined;
  /** The number of sessions of the same sender to former processes of the receiver that this one waits for. */
  #formerSessions = 0;
  #whenSent: (() => void)[] | undefined;

  /** What its sender knows it by. */
  readonly key: unknown;

  /** Made by `link.openSession`. */
  constructor(link: Link, lane: number, sender: MessageSender, target: SessionTarget, key: unknown) {
    this.key = key;
    this.link = link;
    this.lane = lane;
    this.sender = sender;
    this.target = target;
  }

  /** Messages that have been sent and not answered or consumed, and those that wait: how busy the receiver is. */
  get load(): number {
    return this.#unconsumedMessages + (this.#queue?.size ?? 0);
  }

  /** Whether a message would be sent at once. */
  get hasCredit(): boolean {
    const { limits } = this.link;
    return (
      this.#unconsumedMessages < limits.creditMessages &&
      this.#unconsumedBytes < limits.creditBytes &&
      (this.#queue?.size ?? 0) === 0
    );
  }

  /** The first slot of an interface on this lane; the first use tells the receiver. */
  slotOf(description: MessageInterface): number {
    if (this.#firstInterface === description) return 0;
    const known = this.#furtherInterfaces?.get(description);
    if (known !== undefined) return known;
    const { key, endpoints } = description;
    const firstSlot = this.#nextSlot;
    if (firstSlot + endpoints.length > 0xffff)
      throw new RangeError(`cannot send to ${key}: too many interfaces on one lane`);
    this.#nextSlot += endpoints.length;
    if (this.#firstInterface === undefined) this.#firstInterface = description;
    else {
      this.#furtherInterfaces ??= new Map();
      this.#furtherInterfaces.set(description, firstSlot);
    }
    this.#bind({ firstSlot, interface: description, state: "asked" }, Layout.lockstep);
    return firstSlot;
  }

  /** Whether the receiver has been asked for its schema and has not answered, or has another one. */
  get maySchemaDiffer(): boolean {
    return this.#agreement !== undefined;
  }

  /** Whether the receiver may still ask for what was sent once more. */
  get isAskingForSchema(): boolean {
    return this.ended === undefined && this.#agreement?.isAsking === true;
  }

  /** Whether messages to a slot must be in the protobuf layout. */
  needsProtobuf(slot: number): boolean {
    return this.#agreement?.interfaceAt(slot)?.state === "protobuf";
  }

  /**
   * The receiver has answered the binding of an interface.
   * @param other undefined: the schemas are the same, or the receiver has no such interface and says so to each message
   * @returns whether it had been asked
   */
  bindingAnswered(base: number, other: PeerSchema | undefined): boolean {
    const agreement = this.#agreement;
    if (agreement === undefined) return false;
    if (other === undefined) {
      const asked = agreement.confirmSame(base);
      if (agreement.isSettled) this.#agreement = undefined;
      this.#notifyIfAllSent();
      return asked;
    }
    const found = agreement.confirmOther(base);
    if (found === undefined) return false;
    const { part, untaken } = found;
    const refusal = this.sender.compare(this, part.interface, other);
    part.state = refusal ?? "protobuf";
    this.#bind(part, refusal === undefined ? Layout.protobuf : Layout.none);
    for (const entry of untaken) {
      if (isNegotiatedInterface(entry)) this.#bind(entry, Layout.lockstep);
      else if (isSyncMark(entry)) this.#writeSync(entry.sync, entry.casts);
      else this.#resend(entry);
    }
    this.#notifyIfAllSent();
    return true;
  }

  /** What a slot stands for, as errors name it. */
  labelOf(slot: number): string {
    for (const [description, base] of [[this.#firstInterface, 0] as const, ...(this.#furtherInterfaces ?? [])]) {
      const endpoint = description?.endpoints[slot - base];
      if (description !== undefined && endpoint !== undefined) return `${description.name}.${endpoint.name}`;
    }
    return this.target.kind;
  }

  /**
   * Sends a message that is answered.
   * @throws CodecError, MessageSizeError, BackpressureError: then nothing has been sent
   */
  call(slot: number, message: OutboundMessage, value: unknown, call: PendingCall, extension?: MessageExtension): void {
    const { link } = this;
    if (this.castOrder !== undefined) this.castOrder.beforeMessage();
    link.calls.add(call, this);
    if (this.#agreement !== undefined && this.#failIfRefused(this.#agreement, slot, call, undefined)) {
      link.holdProcess();
      return;
    }
    try {
      if (this.hasCredit) call.credit = this.#write(FrameKind.message | (slot << 16), call, message, value, extension);
      else this.#enqueue(slot, 0, this.#encodeForQueue(slot, message, value), extension, call, undefined);
    } catch (error) {
      link.calls.remove(call);
      throw error;
    }
    link.holdProcess();
  }

  /**
   * Sends a message that is not answered.
   * @returns whether it had credit; if not, `waiter` is told when it gets it
   * @throws CodecError, MessageSizeError, BackpressureError: then nothing has been sent
   */
  cast(
    slot: number,
    flags: number,
    message: OutboundMessage,
    value: unknown,
    waiter: CreditWaiter,
    extension?: MessageExtension,
  ): boolean {
    if (this.castOrder !== undefined) this.castOrder.beforeMessage();
    if (this.#agreement !== undefined && this.#failIfRefused(this.#agreement, slot, undefined, waiter)) return true;
    if (this.hasCredit) {
      this.#write(FrameKind.message | (flags << 8) | (slot << 16), undefined, message, value, extension);
      return true;
    }
    this.#enqueue(slot, flags, this.#encodeForQueue(slot, message, value), extension, undefined, waiter);
    return false;
  }

  /** Sends a message that was encoded once for many, and `call` waits for its answer, if any. `admits` has been asked. */
  post(
    slot: number,
    body: EncodedMessage,
    extension: MessageExtension | undefined,
    call: PendingCall | undefined,
    waiter: CreditWaiter | undefined,
  ): void {
    const { link } = this;
    if (this.castOrder !== undefined) this.castOrder.beforeMessage();
    if (call !== undefined) {
      link.calls.add(call, this);
      link.holdProcess();
    }
    if (this.#agreement !== undefined && this.#failIfRefused(this.#agreement, slot, call, waiter)) return;
    if (this.hasCredit) {
      const size = this.#writeEncoded(slot, 0, body, extension, call);
      if (call !== undefined) call.credit = size;
      waiter?.credited();
    } else this.#enqueue(slot, 0, body, extension, call, waiter);
  }

  /** Tells the receiver, behind what has been sent, of a place among casts; `sync` is one of `Sync`. */
  sendSync(sync: number, casts: number): void {
    if (this.#isOver) return;
    if (this.#queue === undefined) this.#writeSync(sync, casts);
    else this.#queue.add({ sync, casts });
  }

  /** @throws BackpressureError if a message of so many bytes would not find room */
  checkRoom(size: number, label: string): void {
    const { sendWindowMessages, sendWindowBytes } = this.link.limits;
    const waiting = this.#queue;
    if (waiting === undefined || waiting.size === 0) return;
    if (waiting.size < sendWindowMessages && waiting.bytes + size <= sendWindowBytes) return;
    throw new BackpressureError(
      `cannot send ${label}: ${waiting.size} messages (${waiting.bytes} bytes) already wait for the receiver, the ` +
        `send window being ${sendWindowMessages} messages and ${sendWindowBytes} bytes; await what broadcast and send return`,
    );
  }

  /** Credit comes back: messages and bytes that the receiver has consumed. */
  credited(messages: number, bytes: number): void {
    this.#unconsumedMessages = Math.max(0, this.#unconsumedMessages - messages);
    this.#unconsumedBytes = Math.max(0, this.#unconsumedBytes - bytes);
    if (this.#queue !== undefined) this.#sendQueued(this.#queue);
  }

  /** The caller gives up: nobody will be told of the answer. Tells the receiver, unless it never got the message. */
  abandon(call: PendingCall, reason: number): void {
    this.link.abandonCall(call);
    const unsent = this.#queue?.remove(call);
    if (unsent === undefined) this.link.sendCancel(this.lane, call.id, reason);
    else {
      this.link.endCall(call);
      // It needs no credit any more.
      unsent.waiter?.credited();
    }
  }

  /** The sender has ended, and sends nothing more. What waits for credit is sent first; then the peer is told. */
  close(): void {
    this.#isClosing = true;
    this.ended ??= new DeliveryError("closed", "its sender has ended");
    this.#notifyIfAllSent();
  }

  /** Calls `then` when everything has been sent that was handed to the session, or never will be; maybe at once. */
  afterAllSent(then: () => void): void {
    if (this.#allSent) then();
    else {
      this.#whenSent ??= [];
      this.#whenSent.push(then);
    }
  }

  /** What the receiver may not have taken is not sent yet. */
  get #allSent(): boolean {
    return this.#isOver || (this.#queue === undefined && this.#agreement?.isAsking !== true);
  }

  /** Something has been sent, or the receiver has taken it. */
  #notifyIfAllSent(): void {
    if (!this.#allSent) return;
    const then = this.#whenSent;
    this.#whenSent = undefined;
    for (const call of then ?? []) call();
    if (this.#isClosing && !this.#isOver && !this.#hasMoved) this.link.closeSession(this);
  }

  /**
   * The receiver lives elsewhere from now on. What has been sent, and what waits for credit, goes its way.
   * @returns undefined if everything that was sent is known to have been handled
   */
  retire(): UnhandledMessages | undefined {
    if (this.ended !== undefined) return undefined;
    this.#hasMoved = true;
    const calls = this.link.calls.all().filter((call) => call.session === this && !call.isAbandoned);
    if (calls.length > 0 || !this.#allSent || this.#unconsumedMessages > 0 || this.castOrder !== undefined)
      this.#trackUnhandled(calls);
    this.ended = new DeliveryError("closed", "its receiver has moved to another process");
    this.sender.sessionEnded(this);
    return this.unhandled;
  }

  #trackUnhandled(calls: readonly PendingCall[]): void {
    this.unhandled = new UnhandledMessages(this.sender, calls);
    this.link.hasUnhandled = true;
    // Casts of the sender come first, by whichever way they take.
    this.castOrder?.beforeMessage();
    this.sendSync(SyncKind.reached, 0);
  }

  /** The sender has sent something to where the receiver was before: nothing goes by this session until that is handled. */
  waitForFormer(before: UnhandledMessages): void {
    if (before.isHandled) return;
    if (this.#queue === undefined) {
      this.#queue = new CreditQueue();
      this.#queue.add(HOLD_MARK);
    }
    this.#formerSessions++;
    before.afterHandling(() => {
      this.#formerSessions--;
      if (this.#queue !== undefined) this.#sendQueued(this.#queue);
    });
  }

  /** The actor or port at the other end has ended; where the target has moved, that is another one by now. */
  targetEnded(): void {
    if (!this.#hasMoved && !this.#isOver) this.sender.targetEnded(this.target);
  }

  /** Whether it has come to its end, and not only been retired. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What waits here will never be sent: calls fail, other messages come back. */
  end(error: DeliveryError): void {
    if (this.#isOver) return;
    if (meansTargetEnded(error)) this.targetEnded();
    this.#isOver = true;
    const retired = this.ended !== undefined;
    this.ended = error;
    const waiting = this.#queue;
    this.#queue = undefined;
    this.#agreement = undefined;
    for (const { slot, call, waiter } of waiting?.takeAll() ?? []) {
      waiter?.credited();
      if (call === undefined) {
        this.link.releaseProcess();
        this.sender.bounced(this, slot, error);
        continue;
      }
      this.link.endCall(call);
      call.failed(error);
    }
    this.#notifyIfAllSent();
    this.castOrder?.sessionEnded();
    if (!retired) this.sender.sessionEnded(this);
    this.unhandled?.sessionEnded();
  }

  #writeSync(sync: number, casts: number): void {
    if (this.#agreement?.isAsking === true) this.#agreement.keepCopy({ sync, casts });
    const { outbox } = this.link;
    outbox.commit(beginFrame(outbox.writer, FrameKind.sync | (sync << 16), this.lane, casts));
  }

  #write(
    word1: number,
    call: PendingCall | undefined,
    message: OutboundMessage,
    value: unknown,
    extension: MessageExtension | undefined,
  ): number {
    if (this.#agreement !== undefined || losesInLockstep(message.codec, value)) {
      return this.#encodeAndWrite(word1, call, message, value, extension);
    }
    const { outbox } = this.link;
    const w = outbox.writer;
    const name = call === undefined ? 0 : call.id;
    const at = beginFrame(w, extension === undefined ? word1 : word1 | (FrameFlag.extended << 8), this.lane, name);
    try {
      if (extension !== undefined) writeExtension(w, extension);
      outbox.beginValue();
      try {
        message.codec.encodeInto(w, value);
      } finally {
        outbox.endValue(w);
      }
      const size = w.blocks.length === 0 ? w.position - at - HEADER_BYTES : bodySize(w, at);
      checkMessageSize(message.label, size, this.link.limits);
      outbox.commit(at);
      this.#unconsumedMessages++;
      this.#unconsumedBytes += size;
      return size;
    } catch (error) {
      w.restore(at, 0);
      if (!mayBeNewer(error)) throw error;
      return this.#encodeAndWrite(word1, call, message, value, extension);
    }
  }

  /** The layout may have to be another one, or what is written be kept. */
  #encodeAndWrite(
    word1: number,
    call: PendingCall | undefined,
    message: OutboundMessage,
    value: unknown,
    extension: MessageExtension | undefined,
  ): number {
    const slot = word1 >>> 16;
    const body = encodeMessage(message, value, this.link.limits, this.needsProtobuf(slot));
    return this.#writeEncoded(slot, (word1 >>> 8) & 0xff, body, extension, call);
  }

  #writeEncoded(
    slot: number,
    flags: number,
    body: EncodedMessage,
    extension: MessageExtension | undefined,
    call: PendingCall | undefined,
  ): number {
    const { outbox } = this.link;
    const w = outbox.writer;
    if (this.#agreement?.isAsking === true)
      this.#agreement.keepCopy({ slot, flags, body: withOwnBlocks(body), extension, call });
    const bits =
      flags | (extension === undefined ? 0 : FrameFlag.extended) | (body.isProtobuf ? FrameFlag.protobuf : 0);
    const at = beginFrame(w, FrameKind.message | (bits << 8) | (slot << 16), this.lane, call?.id ?? 0);
    if (extension !== undefined) writeExtension(w, extension);
    const start = w.reserve(body.bytes.length);
    w.bytes.set(body.bytes, start);
    w.blocks.push(...body.blocks);
    const size = bodySize(w, at);
    outbox.commit(at);
    this.#unconsumedMessages++;
    this.#unconsumedBytes += size;
    return size;
  }

  /** Encodes a message that cannot be sent yet. */
  #encodeForQueue(slot: number, message: OutboundMessage, value: unknown): EncodedMessage {
    // Asked before anything is encoded, so that a flood that is refused costs little.
    this.checkRoom(0, message.label);
    const body = encodeMessage(message, value, this.link.limits, this.needsProtobuf(slot));
    this.checkRoom(body.size, message.label);
    return body;
  }

  #enqueue(
    slot: number,
    flags: number,
    body: EncodedMessage,
    extension: MessageExtension | undefined,
    call: PendingCall | undefined,
    waiter: CreditWaiter | undefined,
  ): void {
    this.#queue ??= new CreditQueue();
    this.#queue.add({ slot, flags, body, extension, call, waiter });
    if (call === undefined) this.link.holdProcess();
  }

  #bind(part: NegotiatedInterface, layout: number): void {
    const { firstSlot, interface: known } = part;
    const { key, fingerprint, endpoints } = known;
    this.link.sendBind(this.lane, { firstSlot, layout, key, fingerprint, endpoints });
    if (layout !== Layout.lockstep) return;
    this.#agreement ??= new SchemaAgreement();
    this.#agreement.ask(part);
  }

  /** Sends a message that the receiver has not taken: its credit was used, and is used again. */
  #resend(message: SentMessage): void {
    const { slot, call, body, extension } = message;
    // A call that has ended with the link has nobody who waits; one that was given up is over now.
    if (call?.id === 0) return;
    this.#unconsumedMessages--;
    this.#unconsumedBytes -= body.size + extensionSize(extension);
    if (call?.isAbandoned === true) this.link.endCall(call);
    else if (!this.#failIfRefused(this.#agreement!, slot, call, undefined)) {
      const size = this.#sendEncoded(message);
      if (call !== undefined) call.credit = size;
    }
  }

  /** Sends what was encoded before, in the layout that it must have by now. @returns its size; 0: it cannot be said in that */
  #sendEncoded(message: SentMessage): number {
    const { slot, flags, body, extension, call } = message;
    const part = this.#agreement?.interfaceAt(slot);
    const exception = (flags & FrameFlag.exception) !== 0;
    if (part?.state !== "protobuf" || body.isProtobuf || exception) {
      return this.#writeEncoded(slot, flags, body, extension, call);
    }
    try {
      const known = part.interface;
      const translated = this.sender.translate(known, known.endpoints[slot - part.firstSlot]!, body);
      return this.#writeEncoded(slot, flags, translated, extension, call);
    } catch (error) {
      const reason = errorMessage(error);
      this.#failLater(slot, call, new DeliveryError("refused", reason, { cause: error }));
      return 0;
    }
  }

  /** Ends a message that the receiver could not read. @returns whether that was so */
  #failIfRefused(
    agreement: SchemaAgreement,
    slot: number,
    call: PendingCall | undefined,
    waiter: CreditWaiter | undefined,
  ): boolean {
    const state = agreement.interfaceAt(slot)?.state;
    if (!(state instanceof DeliveryError)) return false;
    waiter?.credited();
    this.#failLater(slot, call, state);
    return true;
  }

  /** Not at once: whoever sends is told as by the receiver. */
  #failLater(slot: number, call: PendingCall | undefined, error: DeliveryError): void {
    queueMicrotask(() => {
      if (call === undefined) this.sender.bounced(this, slot, error);
      else if (call.id !== 0) {
        const { isAbandoned } = call;
        this.link.endCall(call);
        if (!isAbandoned) call.failed(error);
      }
    });
  }

  #sendQueued(waiting: CreditQueue): void {
    if (this.#formerSessions > 0) return;
    const { limits } = this.link;
    while (
      waiting.size > 0 &&
      this.#unconsumedMessages < limits.creditMessages &&
      this.#unconsumedBytes < limits.creditBytes
    ) {
      const entry = waiting.takeOldest();
      if (isSyncMark(entry)) {
        if (entry !== HOLD_MARK) this.#writeSync(entry.sync, entry.casts);
        continue;
      }
      const { slot, flags, body, extension, call, waiter } = entry;
      if (call === undefined) this.link.releaseProcess();
      if (this.#agreement !== undefined && this.#failIfRefused(this.#agreement, slot, call, waiter)) continue;
      const size = this.#sendEncoded({ slot, flags, body, extension, call });
      if (call !== undefined) call.credit = size;
      waiter?.credited();
    }
    if (waiting.size > 0) return;
    this.#queue = undefined;
    this.#notifyIfAllSent();
  }
}

/** Blocks are those of the sender's values, which it may change when it has had credit. */
function withOwnBlocks(body: EncodedMessage): EncodedMessage {
  if (body.blocks.length === 0) return body;
  return { ...body, blocks: body.blocks.map((block) => copyBytes(block, 0, block.length)) };
}
