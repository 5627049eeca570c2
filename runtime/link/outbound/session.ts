/**
 * A session sends all messages of one sender to one destination, in order, whichever handle or adverb they are sent
 * with. A session has one lane of one link. The pipe of the link keeps order, so the place of a message on its lane is
 * its sequence number, and credit is the only acknowledgement. Messages without credit are queued, up to the send
 * window.
 */

import { errorMessage } from "../../../shared/text/error-message.js";
import { losesInLockstep, mayBeNewer } from "../../wire/protobuf/newer-values.js";
import { BackpressureError, DeliveryError, meansTargetEnded } from "../errors.js";
import { Layout, type PeerSchema } from "../frame/binding.js";
import { bodySize } from "../frame/control-body.js";
import { beginFrame, copyBytes, FrameFlag, FrameKind, HEADER_BYTES, SyncKind } from "../frame/frame.js";
import { extensionSize, type MessageExtension, writeExtension } from "../frame/message-extension.js";
import { CreditQueue, isSyncMark, type SyncMark } from "./credit-queue.js";
import { checkMessageSize, encodeMessage } from "./encode-message.js";
import type { EncodedMessage } from "./encoded-message.js";
import type {
  CastOrder,
  CreditWaiter,
  MessageInterface,
  MessageSender,
  OutboundMessage,
  SenderSession,
  SessionTarget,
} from "./message-sender.js";
import type { CallSession, PendingCall } from "./pending-calls.js";
import {
  isNegotiatedInterface,
  type NegotiatedInterface,
  SchemaAgreement,
  type SentMessage,
} from "./schema-agreement.js";
import type { SessionLink, SessionOnLane } from "./session-link.js";
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

/**
 * The first entry in the queue of a session that waits for an earlier session. A message is queued behind it although
 * there is credit.
 */
const HOLD_MARK: SyncMark = { sync: -1, casts: 0 };

export class Session implements CallSession, SessionOnLane, SenderSession {
  readonly link: SessionLink;
  readonly lane: number;
  readonly sender: MessageSender;
  readonly target: SessionTarget;
  /** The error with which the session has ended, or undefined while messages can be sent. */
  ended: DeliveryError | undefined;
  /** The order among casts, if the sender also casts to the actor on other lanes. */
  castOrder: CastOrder | undefined;
  /** The schemas that are being agreed on, or undefined if the receiver is known to have the same schemas. */
  #agreement: SchemaAgreement | undefined;
  /** The messages, and their bytes below, that were sent and for which no credit has come back. */
  #unconsumedMessages = 0;
  #unconsumedBytes = 0;
  #queue: CreditQueue | undefined;
  #firstInterface: MessageInterface | undefined;
  #furtherInterfaces: Map<MessageInterface, number> | undefined;
  #nextSlot = 0;
  #isClosing = false;
  #hasMoved = false;
  #isOver = false;
  /** The record of the messages that the former process of a moved receiver has not handled yet. */
  unhandled: UnhandledMessages | undefined;
  /** Called one after another when the receiver confirms that it has handled what was sent before. */
  #whenReached: (() => void)[] | undefined;
  /** The number of sessions of the same sender, to former processes of the receiver, that this session waits for. */
  #formerSessions = 0;
  #whenSent: (() => void)[] | undefined;

  /** The sender's own name for the session. */
  readonly key: unknown;

  /** Creates the session of a lane; `link.openSession` calls it. */
  constructor(link: SessionLink, lane: number, sender: MessageSender, target: SessionTarget, key: unknown) {
    this.key = key;
    this.link = link;
    this.lane = lane;
    this.sender = sender;
    this.target = target;
  }

  /** The number of messages that the receiver has not consumed or that are queued: a measure of how busy the receiver is. */
  get load(): number {
    return this.#unconsumedMessages + (this.#queue?.size ?? 0);
  }

  /** Whether a message would be sent without being queued. */
  get hasCredit(): boolean {
    const { limits } = this.link;
    return (
      this.#unconsumedMessages < limits.creditMessages &&
      this.#unconsumedBytes < limits.creditBytes &&
      (this.#queue?.size ?? 0) === 0
    );
  }

  /** Returns the first slot of an interface on this lane. The first use binds the interface. */
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

  /** Whether the receiver's schema is not known yet, or differs from the sender's. */
  get maySchemaDiffer(): boolean {
    return this.#agreement !== undefined;
  }

  /** Whether the receiver has not answered a binding yet, so that sent messages may have to be sent again. */
  get isAskingForSchema(): boolean {
    return this.ended === undefined && this.#agreement?.isAsking === true;
  }

  /** Returns whether messages to a slot must be in the protobuf layout. */
  needsProtobuf(slot: number): boolean {
    return this.#agreement?.interfaceAt(slot)?.state === "protobuf";
  }

  /**
   * The receiver has answered the binding of an interface.
   * @param other the schema of the receiver, if it differs. It is undefined if the schemas are the same, and if the
   * receiver does not have the interface: such a receiver refuses each message.
   * @returns false if no answer to this binding was expected
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

  /** Returns the name of the endpoint at a slot, for errors. */
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
   * @returns whether the message was sent at once; otherwise `waiter` is told when the message has credit
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

  /**
   * Sends a message that was encoded once for several receivers. The caller has called `checkRoom`.
   * @param call the call that waits for the answer, if any
   */
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
    } else this.#enqueue(slot, 0, body.keep?.() ?? body, extension, call, waiter);
  }

  /** Sends a `sync` frame behind the messages that were sent before. `sync` is one of `SyncKind`. */
  sendSync(sync: number, casts: number): void {
    if (this.#isOver) return;
    if (this.#queue === undefined) this.#writeSync(sync, casts);
    else this.#queue.add({ sync, casts });
  }

  /**
   * Checks that the send window has room for a message of `size` bytes.
   * @throws BackpressureError if it has not
   */
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

  /** Credit comes back for messages, and their bytes, that the receiver has consumed. */
  credited(messages: number, bytes: number): void {
    this.#unconsumedMessages -= messages;
    this.#unconsumedBytes -= bytes;
    if (this.#unconsumedMessages < 0 || this.#unconsumedBytes < 0) this.#correctCredit();
    if (this.#queue !== undefined) this.#sendQueued(this.#queue);
  }

  /** A faulty receiver has returned more credit than it had: what was sent has been consumed, and no more. */
  #correctCredit(): void {
    this.#unconsumedMessages = Math.max(0, this.#unconsumedMessages);
    this.#unconsumedBytes = Math.max(0, this.#unconsumedBytes);
  }

  /** The caller gives up waiting for a call. A message that was sent is cancelled at the receiver; a queued one is removed. */
  abandon(call: PendingCall, reason: number): void {
    this.link.abandonCall(call);
    const unsent = this.#queue?.remove(call);
    if (unsent === undefined) this.link.sendCancel(this.lane, call.id, reason);
    else {
      this.link.endCall(call);
      // The message needs no credit any more.
      unsent.waiter?.credited();
    }
  }

  /** The sender has ended and sends nothing more. The lane is closed after the queued messages have been sent. */
  close(): void {
    this.#isClosing = true;
    this.ended ??= new DeliveryError("closed", "its sender has ended");
    this.#notifyIfAllSent();
  }

  /** Calls `then` when all messages have been sent, or will never be sent. The call may be immediate. */
  afterAllSent(then: () => void): void {
    if (this.#allSent) then();
    else {
      this.#whenSent ??= [];
      this.#whenSent.push(then);
    }
  }

  /** Whether all messages have been sent and the receiver will not ask for them again. */
  get #allSent(): boolean {
    return this.#isOver || (this.#queue === undefined && this.#agreement?.isAsking !== true);
  }

  /** Calls the callbacks of `afterAllSent`, and closes the lane of an ended sender, if everything has been sent. */
  #notifyIfAllSent(): void {
    if (!this.#allSent) return;
    const then = this.#whenSent;
    this.#whenSent = undefined;
    for (const call of then ?? []) call();
    if (this.#isClosing && !this.#isOver && !this.#hasMoved) this.link.closeSession(this);
  }

  /**
   * The receiver has moved to another process. Messages that were sent before, and those in the queue, still go to the
   * former process.
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
    // Casts of the sender that were sent before come first, whichever lane they take.
    this.castOrder?.beforeMessage();
    const { unhandled } = this;
    this.afterHandling(() => unhandled.markHandled());
  }

  /**
   * Calls `then` when the receiver has handled everything that was sent before, as far as it would delay later messages, or when
   * the session ends. The call may be immediate.
   */
  afterHandling(then: () => void): void {
    if (this.#isOver) {
      then();
      return;
    }
    this.#whenReached ??= [];
    this.#whenReached.push(then);
    this.sendSync(SyncKind.reached, 0);
  }

  /** The receiver confirms, in the order of the questions, that it has handled what was sent before. */
  reached(): void {
    this.#whenReached?.shift()?.();
  }

  /**
   * Queues all messages of this session until the messages that the sender has sent to the former process of the
   * receiver have been handled.
   */
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

  /**
   * The actor or port at the other end has ended. If the target has moved, another actor has taken its place, and
   * nothing follows.
   */
  targetEnded(): void {
    if (!this.#hasMoved && !this.#isOver) this.sender.targetEnded(this.target);
  }

  /** A call of this session has its answer, or nobody waits for the answer any more. */
  callEnded(call: PendingCall): void {
    this.unhandled?.callEnded(call);
  }

  /** Whether the session has ended. A session whose receiver has moved has not ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the session: queued calls fail with `error`, and other queued messages are returned to the sender. */
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
    for (const then of this.#whenReached?.splice(0) ?? []) then();
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

  /**
   * Encodes a message apart from the batch and writes it, because it may need the protobuf layout, or a copy may have
   * to be kept.
   */
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
      this.#agreement.keepCopy({ slot, flags, body: withOwnMemory(body), extension, call });
    const bits =
      flags | (extension === undefined ? 0 : FrameFlag.extended) | (body.isProtobuf ? FrameFlag.protobuf : 0);
    const at = beginFrame(w, FrameKind.message | (bits << 8) | (slot << 16), this.lane, call?.id ?? 0);
    if (extension !== undefined) writeExtension(w, extension);
    const start = w.reserve(body.bytes.length);
    w.bytes.set(body.bytes, start);
    if (body.blocks.length > 0) w.blocks.push(...body.blocks);
    const size = bodySize(w, at);
    outbox.commit(at);
    this.#unconsumedMessages++;
    this.#unconsumedBytes += size;
    return size;
  }

  /** Encodes a message for the queue. */
  #encodeForQueue(slot: number, message: OutboundMessage, value: unknown): EncodedMessage {
    // The check comes before encoding, so that refused messages cost little.
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

  /**
   * Sends a message again that the receiver has dropped because it has another schema. The credit of the first attempt
   * is used again.
   */
  #resend(message: SentMessage): void {
    const { slot, call, body, extension } = message;
    // Nobody waits for a call that has ended with the link. A call that was given up ends here.
    if (call?.id === 0) return;
    this.#unconsumedMessages--;
    this.#unconsumedBytes -= body.size + extensionSize(extension);
    if (call?.isAbandoned === true) this.link.endCall(call);
    else if (!this.#failIfRefused(this.#agreement!, slot, call, undefined)) {
      const size = this.#sendEncoded(message);
      if (call !== undefined) call.credit = size;
    }
  }

  /**
   * Sends an encoded message in the layout that the receiver needs by now.
   * @returns the size of the message, or 0 if it cannot be translated
   */
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

  /**
   * Fails a message whose interface the receiver cannot read.
   * @returns whether that was so
   */
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

  /** Fails a message later, in a microtask, as if the receiver had answered. */
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

/**
 * Returns a message that can be kept, with copies of its blocks. They are part of the sender's value, which the sender may
 * change after the message has had credit.
 */
function withOwnMemory(body: EncodedMessage): EncodedMessage {
  const kept = body.keep?.() ?? body;
  if (kept.blocks.length === 0) return kept;
  return { ...kept, blocks: kept.blocks.map((block) => copyBytes(block, 0, block.length)) };
}
