/**
 * A session: all messages of one sender to one destination, in order, over whatever handle or adverb they were sent.
 * Here it is a lane of one link, whose pipe keeps order: the place of a message on its lane is its sequence number, and
 * nothing is acknowledged but by credit. Without credit messages wait here, up to the send window.
 */

import { losesInLockstep, mayBeNewer } from "../wire/protobuf/newer-values.js";
import { Agreement, isPart, type Part, type SentMessage } from "./agreement.js";
import { Layout, type OtherSchema } from "./binding.js";
import type { PendingCall } from "./calls.js";
import { bodySize } from "./control.js";
import { checkSize, encodeMessage } from "./encode.js";
import { BackpressureError, DeliveryError, meansEnded } from "./errors.js";
import { type Extension, extensionSize, writeExtension } from "./extension.js";
import { beginFrame, copyBytes, Flag, HEADER, Kind, Sync } from "./frame.js";
import { Leaving } from "./leaving.js";
import type { Link } from "./link.js";
import type { CastOrder, CreditWaiter, Interface, Message, Sender, SessionTarget } from "./sending.js";
import { type Encoded, isSync, type SyncMark, WaitingQueue } from "./waiting.js";

export type {
  BoundMessage,
  CastOrder,
  CreditWaiter,
  Encoder,
  Interface,
  Message,
  Sender,
  SessionTarget,
} from "./sending.js";

/** Stands first in the queue of a session whose messages wait for others: it keeps them from being sent at once. */
const HOLD: SyncMark = { sync: -1, casts: 0 };

export class Session {
  readonly link: Link;
  readonly lane: number;
  readonly sender: Sender;
  readonly target: SessionTarget;
  /** Why nothing can be sent any more. */
  ended: DeliveryError | undefined;
  /** Of a sender that also casts to the actor by other ways. */
  order: CastOrder | undefined;
  /** Undefined: everything is lockstep, and the receiver knows it. */
  #agreement: Agreement | undefined;
  /** Un-consumed by the receiver, as far as is known. */
  #messages = 0;
  #bytes = 0;
  #waiting: WaitingQueue | undefined;
  #bound: Interface | undefined;
  #moreBound: Map<Interface, number> | undefined;
  #nextSlot = 0;
  #closing = false;
  #moved = false;
  #over = false;
  /** Set from the moment when the receiver moves until the messages that were sent before have been handled. */
  leaving: Leaving | undefined;
  /** The number of sessions of the same sender to former processes of the receiver that this one waits for. */
  #behind = 0;
  #afterSending: (() => void)[] | undefined;

  /** What its sender knows it by. */
  readonly key: unknown;

  /** Made by `link.openSession`. */
  constructor(link: Link, lane: number, sender: Sender, target: SessionTarget, key: unknown) {
    this.key = key;
    this.link = link;
    this.lane = lane;
    this.sender = sender;
    this.target = target;
  }

  /** Messages that have been sent and not answered or consumed, and those that wait: how busy the receiver is. */
  get load(): number {
    return this.#messages + (this.#waiting?.size ?? 0);
  }

  /** Whether a message would be sent at once. */
  get hasCredit(): boolean {
    const { limits } = this.link;
    return (
      this.#messages < limits.creditMessages && this.#bytes < limits.creditBytes && (this.#waiting?.size ?? 0) === 0
    );
  }

  /** The first slot of an interface on this lane; the first use tells the receiver. */
  slotOf(description: Interface): number {
    if (this.#bound === description) return 0;
    const known = this.#moreBound?.get(description);
    if (known !== undefined) return known;
    const { key, endpoints } = description;
    const base = this.#nextSlot;
    if (base + endpoints.length > 0xffff)
      throw new RangeError(`cannot send to ${key}: too many interfaces on one lane`);
    this.#nextSlot += endpoints.length;
    if (this.#bound === undefined) this.#bound = description;
    else {
      this.#moreBound ??= new Map();
      this.#moreBound.set(description, base);
    }
    this.#bind({ base, interface: description, state: "asked" }, Layout.lockstep);
    return base;
  }

  /** Whether the receiver has been asked for its schema and has not answered, or has another one. */
  get differs(): boolean {
    return this.#agreement !== undefined;
  }

  /** Whether the receiver may still ask for what was sent once more. */
  get asking(): boolean {
    return this.ended === undefined && this.#agreement?.asking === true;
  }

  /** Whether messages to a slot must be in the protobuf layout. */
  needsProtobuf(slot: number): boolean {
    return this.#agreement?.partOf(slot)?.state === "protobuf";
  }

  /**
   * The receiver has answered the binding of an interface.
   * @param other undefined: the schemas are the same, or the receiver has no such interface and says so to each message
   * @returns whether it had been asked
   */
  bound(base: number, other: OtherSchema | undefined): boolean {
    const agreement = this.#agreement;
    if (agreement === undefined) return false;
    if (other === undefined) {
      const asked = agreement.same(base);
      if (agreement.trivial) this.#agreement = undefined;
      this.#noteSent();
      return asked;
    }
    const found = agreement.other(base);
    if (found === undefined) return false;
    const { part, untaken } = found;
    const refusal = this.sender.compare(this, part.interface, other);
    part.state = refusal ?? "protobuf";
    this.#bind(part, refusal === undefined ? Layout.protobuf : Layout.none);
    for (const entry of untaken) {
      if (isPart(entry)) this.#bind(entry, Layout.lockstep);
      else if (isSync(entry)) this.#writeSync(entry.sync, entry.casts);
      else this.#again(entry);
    }
    this.#noteSent();
    return true;
  }

  /** What a slot stands for, as errors name it. */
  labelOf(slot: number): string {
    for (const [description, base] of [[this.#bound, 0] as const, ...(this.#moreBound ?? [])]) {
      const endpoint = description?.endpoints[slot - base];
      if (description !== undefined && endpoint !== undefined) return `${description.name}.${endpoint.name}`;
    }
    return this.target.kind;
  }

  /**
   * Sends a message that is answered.
   * @throws CodecError, MessageSizeError, BackpressureError: then nothing has been sent
   */
  call(slot: number, message: Message, value: unknown, call: PendingCall, extension?: Extension): void {
    const { link } = this;
    if (this.order !== undefined) this.order.behind();
    link.calls.add(call, this);
    if (this.#agreement !== undefined && this.#refused(this.#agreement, slot, call, undefined)) {
      link.hold();
      return;
    }
    try {
      if (this.hasCredit) call.credit = this.#write(Kind.message | (slot << 16), call, message, value, extension);
      else this.#later(slot, 0, this.#encode(slot, message, value), extension, call, undefined);
    } catch (error) {
      link.calls.remove(call);
      throw error;
    }
    link.hold();
  }

  /**
   * Sends a message that is not answered.
   * @returns whether it had credit; if not, `waiter` is told when it gets it
   * @throws CodecError, MessageSizeError, BackpressureError: then nothing has been sent
   */
  cast(
    slot: number,
    flags: number,
    message: Message,
    value: unknown,
    waiter: CreditWaiter,
    extension?: Extension,
  ): boolean {
    if (this.order !== undefined) this.order.behind();
    if (this.#agreement !== undefined && this.#refused(this.#agreement, slot, undefined, waiter)) return true;
    if (this.hasCredit) {
      this.#write(Kind.message | (flags << 8) | (slot << 16), undefined, message, value, extension);
      return true;
    }
    this.#later(slot, flags, this.#encode(slot, message, value), extension, undefined, waiter);
    return false;
  }

  /** Sends a message that was encoded once for many, and `call` waits for its answer, if any. `admits` has been asked. */
  post(
    slot: number,
    body: Encoded,
    extension: Extension | undefined,
    call: PendingCall | undefined,
    waiter: CreditWaiter | undefined,
  ): void {
    const { link } = this;
    if (this.order !== undefined) this.order.behind();
    if (call !== undefined) {
      link.calls.add(call, this);
      link.hold();
    }
    if (this.#agreement !== undefined && this.#refused(this.#agreement, slot, call, waiter)) return;
    if (this.hasCredit) {
      const size = this.#writeEncoded(slot, 0, body, extension, call);
      if (call !== undefined) call.credit = size;
      waiter?.credited();
    } else this.#later(slot, 0, body, extension, call, waiter);
  }

  /** Tells the receiver, behind what has been sent, of a place among casts; `sync` is one of `Sync`. */
  sync(sync: number, casts: number): void {
    if (this.#over) return;
    if (this.#waiting === undefined) this.#writeSync(sync, casts);
    else this.#waiting.add({ sync, casts });
  }

  /** @throws BackpressureError if a message of so many bytes would not find room */
  admits(size: number, label: string): void {
    const { sendWindowMessages, sendWindowBytes } = this.link.limits;
    const waiting = this.#waiting;
    if (waiting === undefined || waiting.size === 0) return;
    if (waiting.size < sendWindowMessages && waiting.bytes + size <= sendWindowBytes) return;
    throw new BackpressureError(
      `cannot send ${label}: ${waiting.size} messages (${waiting.bytes} bytes) already wait for the receiver, the ` +
        `send window being ${sendWindowMessages} messages and ${sendWindowBytes} bytes; await what broadcast and send return`,
    );
  }

  /** Credit comes back: messages and bytes that the receiver has consumed. */
  credited(messages: number, bytes: number): void {
    this.#messages = Math.max(0, this.#messages - messages);
    this.#bytes = Math.max(0, this.#bytes - bytes);
    if (this.#waiting !== undefined) this.#drain(this.#waiting);
  }

  /** The caller gives up: nobody will be told of the answer. Tells the receiver, unless it never got the message. */
  abandon(call: PendingCall, reason: number): void {
    this.link.abandonCall(call);
    const unsent = this.#waiting?.remove(call);
    if (unsent === undefined) this.link.sendCancel(this.lane, call.id, reason);
    else {
      this.link.endCall(call);
      // It needs no credit any more.
      unsent.waiter?.credited();
    }
  }

  /** The sender has ended, and sends nothing more. What waits for credit is sent first; then the peer is told. */
  close(): void {
    this.#closing = true;
    this.ended ??= new DeliveryError("closed", "its sender has ended");
    this.#noteSent();
  }

  /** Calls `then` when everything has been sent that was handed to the session, or never will be; maybe at once. */
  afterSending(then: () => void): void {
    if (this.#allSent) then();
    else {
      this.#afterSending ??= [];
      this.#afterSending.push(then);
    }
  }

  /** What the receiver may not have taken is not sent yet. */
  get #allSent(): boolean {
    return this.#over || (this.#waiting === undefined && this.#agreement?.asking !== true);
  }

  /** Something has been sent, or the receiver has taken it. */
  #noteSent(): void {
    if (!this.#allSent) return;
    const then = this.#afterSending;
    this.#afterSending = undefined;
    for (const call of then ?? []) call();
    if (this.#closing && !this.#over && !this.#moved) this.link.closeSession(this);
  }

  /**
   * The receiver lives elsewhere from now on. What has been sent, and what waits for credit, goes its way.
   * @returns undefined if everything that was sent is known to have been handled
   */
  retire(): Leaving | undefined {
    if (this.ended !== undefined) return undefined;
    this.#moved = true;
    const calls = this.link.calls.all().filter((call) => call.session === this && !call.abandoned);
    if (calls.length > 0 || !this.#allSent || this.#messages > 0 || this.order !== undefined) this.#leave(calls);
    this.ended = new DeliveryError("closed", "its receiver has moved to another process");
    this.sender.sessionEnded(this);
    return this.leaving;
  }

  #leave(calls: readonly PendingCall[]): void {
    this.leaving = new Leaving(this.sender, calls);
    this.link.hasLeaving = true;
    // Casts of the sender come first, by whichever way they take.
    this.order?.behind();
    this.sync(Sync.reached, 0);
  }

  /** The sender has sent something to where the receiver was before: nothing goes by this session until that is handled. */
  waitFor(before: Leaving): void {
    if (before.isHandled) return;
    if (this.#waiting === undefined) {
      this.#waiting = new WaitingQueue();
      this.#waiting.add(HOLD);
    }
    this.#behind++;
    before.afterHandling(() => {
      this.#behind--;
      if (this.#waiting !== undefined) this.#drain(this.#waiting);
    });
  }

  /** The actor or port at the other end has ended; where the target has moved, that is another one by now. */
  targetEnded(): void {
    if (!this.#moved && !this.#over) this.sender.targetEnded(this.target);
  }

  /** Whether it has come to its end, and not only been retired. */
  get over(): boolean {
    return this.#over;
  }

  /** What waits here will never be sent: calls fail, other messages come back. */
  end(error: DeliveryError): void {
    if (this.#over) return;
    if (meansEnded(error)) this.targetEnded();
    this.#over = true;
    const retired = this.ended !== undefined;
    this.ended = error;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#agreement = undefined;
    for (const { slot, call, waiter } of waiting?.takeAll() ?? []) {
      waiter?.credited();
      if (call === undefined) {
        this.link.release();
        this.sender.bounced(this, slot, error);
        continue;
      }
      this.link.endCall(call);
      call.failed(error);
    }
    this.#noteSent();
    this.order?.ended();
    if (!retired) this.sender.sessionEnded(this);
    this.leaving?.end();
  }

  #writeSync(sync: number, casts: number): void {
    if (this.#agreement?.asking === true) this.#agreement.keep({ sync, casts });
    const { outbox } = this.link;
    outbox.commit(beginFrame(outbox.writer, Kind.sync | (sync << 16), this.lane, casts));
  }

  #write(
    word1: number,
    call: PendingCall | undefined,
    message: Message,
    value: unknown,
    extension: Extension | undefined,
  ): number {
    if (this.#agreement !== undefined || losesInLockstep(message.codec, value)) {
      return this.#writeKept(word1, call, message, value, extension);
    }
    const { outbox } = this.link;
    const w = outbox.writer;
    const name = call === undefined ? 0 : call.id;
    const at = beginFrame(w, extension === undefined ? word1 : word1 | (Flag.extended << 8), this.lane, name);
    try {
      if (extension !== undefined) writeExtension(w, extension);
      outbox.beginValue();
      try {
        message.codec.encodeInto(w, value);
      } finally {
        outbox.endValue(w);
      }
      const size = w.blocks.length === 0 ? w.position - at - HEADER : bodySize(w, at);
      checkSize(message.label, size, this.link.limits);
      outbox.commit(at);
      this.#messages++;
      this.#bytes += size;
      return size;
    } catch (error) {
      w.restore(at, 0);
      if (!mayBeNewer(error)) throw error;
      return this.#writeKept(word1, call, message, value, extension);
    }
  }

  /** The layout may have to be another one, or what is written be kept. */
  #writeKept(
    word1: number,
    call: PendingCall | undefined,
    message: Message,
    value: unknown,
    extension: Extension | undefined,
  ): number {
    const slot = word1 >>> 16;
    const body = encodeMessage(message, value, this.link.limits, this.needsProtobuf(slot));
    return this.#writeEncoded(slot, (word1 >>> 8) & 0xff, body, extension, call);
  }

  #writeEncoded(
    slot: number,
    flags: number,
    body: Encoded,
    extension: Extension | undefined,
    call: PendingCall | undefined,
  ): number {
    const { outbox } = this.link;
    const w = outbox.writer;
    if (this.#agreement?.asking === true) this.#agreement.keep({ slot, flags, body: kept(body), extension, call });
    const bits = flags | (extension === undefined ? 0 : Flag.extended) | (body.protobuf ? Flag.protobuf : 0);
    const at = beginFrame(w, Kind.message | (bits << 8) | (slot << 16), this.lane, call?.id ?? 0);
    if (extension !== undefined) writeExtension(w, extension);
    const start = w.reserve(body.bytes.length);
    w.bytes.set(body.bytes, start);
    w.blocks.push(...body.blocks);
    const size = bodySize(w, at);
    outbox.commit(at);
    this.#messages++;
    this.#bytes += size;
    return size;
  }

  /** Encodes a message that cannot be sent yet. */
  #encode(slot: number, message: Message, value: unknown): Encoded {
    // Asked before anything is encoded, so that a flood that is refused costs little.
    this.admits(0, message.label);
    const body = encodeMessage(message, value, this.link.limits, this.needsProtobuf(slot));
    this.admits(body.size, message.label);
    return body;
  }

  #later(
    slot: number,
    flags: number,
    body: Encoded,
    extension: Extension | undefined,
    call: PendingCall | undefined,
    waiter: CreditWaiter | undefined,
  ): void {
    this.#waiting ??= new WaitingQueue();
    this.#waiting.add({ slot, flags, body, extension, call, waiter });
    if (call === undefined) this.link.hold();
  }

  #bind(part: Part, layout: number): void {
    const { base, interface: known } = part;
    const { key, fingerprint, endpoints } = known;
    this.link.sendBind(this.lane, { base, layout, key, fingerprint, endpoints });
    if (layout !== Layout.lockstep) return;
    this.#agreement ??= new Agreement();
    this.#agreement.ask(part);
  }

  /** Sends a message that the receiver has not taken: its credit was used, and is used again. */
  #again(message: SentMessage): void {
    const { slot, call, body, extension } = message;
    // A call that has ended with the link has nobody who waits; one that was given up is over now.
    if (call?.id === 0) return;
    this.#messages--;
    this.#bytes -= body.size + extensionSize(extension);
    if (call?.abandoned === true) this.link.endCall(call);
    else if (!this.#refused(this.#agreement!, slot, call, undefined)) {
      const size = this.#send(message);
      if (call !== undefined) call.credit = size;
    }
  }

  /** Sends what was encoded before, in the layout that it must have by now. @returns its size; 0: it cannot be said in that */
  #send(message: SentMessage): number {
    const { slot, flags, body, extension, call } = message;
    const part = this.#agreement?.partOf(slot);
    const exception = (flags & Flag.exception) !== 0;
    if (part?.state !== "protobuf" || body.protobuf || exception) {
      return this.#writeEncoded(slot, flags, body, extension, call);
    }
    try {
      const known = part.interface;
      const translated = this.sender.translate(known, known.endpoints[slot - part.base]!, body);
      return this.#writeEncoded(slot, flags, translated, extension, call);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#fail(slot, call, new DeliveryError("refused", reason, { cause: error }));
      return 0;
    }
  }

  /** Ends a message that the receiver could not read. @returns whether that was so */
  #refused(
    agreement: Agreement,
    slot: number,
    call: PendingCall | undefined,
    waiter: CreditWaiter | undefined,
  ): boolean {
    const state = agreement.partOf(slot)?.state;
    if (!(state instanceof DeliveryError)) return false;
    waiter?.credited();
    this.#fail(slot, call, state);
    return true;
  }

  /** Not at once: whoever sends is told as by the receiver. */
  #fail(slot: number, call: PendingCall | undefined, error: DeliveryError): void {
    queueMicrotask(() => {
      if (call === undefined) this.sender.bounced(this, slot, error);
      else if (call.id !== 0) {
        const { abandoned } = call;
        this.link.endCall(call);
        if (!abandoned) call.failed(error);
      }
    });
  }

  #drain(waiting: WaitingQueue): void {
    if (this.#behind > 0) return;
    const { limits } = this.link;
    while (waiting.size > 0 && this.#messages < limits.creditMessages && this.#bytes < limits.creditBytes) {
      const entry = waiting.take();
      if (isSync(entry)) {
        if (entry !== HOLD) this.#writeSync(entry.sync, entry.casts);
        continue;
      }
      const { slot, flags, body, extension, call, waiter } = entry;
      if (call === undefined) this.link.release();
      if (this.#agreement !== undefined && this.#refused(this.#agreement, slot, call, waiter)) continue;
      const size = this.#send({ slot, flags, body, extension, call });
      if (call !== undefined) call.credit = size;
      waiter?.credited();
    }
    if (waiting.size > 0) return;
    this.#waiting = undefined;
    this.#noteSent();
  }
}

/** Blocks are those of the sender's values, which it may change when it has had credit. */
function kept(body: Encoded): Encoded {
  if (body.blocks.length === 0) return body;
  return { ...body, blocks: body.blocks.map((block) => copyBytes(block, 0, block.length)) };
}
