/**
 * A lane is the receiving end of a session: the messages of one sender to one destination on one link. It counts what
 * the destination has consumed, and returns the credit in batches. The destination interprets the messages.
 */
import type { Reader } from "../../wire/reader.js";
import type { ProcId } from "../address.js";
import type { DeliveryError, DeliveryReason } from "../errors.js";
import { type Binding, Layout } from "../frame/binding.js";
import { writeU32 } from "../frame/control-body.js";
import { beginFrame, FrameKind } from "../frame/frame.js";
import type { FrameSender } from "../outbound/frame-sender.js";
import type { MessageSender, SessionTarget } from "../outbound/message-sender.js";
import type { StreamSource } from "../outbound/stream-source.js";
import type { LaneCredit, LaneRequest, LaneSender } from "./lane-request.js";

/** Credit is returned when a quarter of the sender's credit has been consumed. */
const CREDIT_BATCHES = 4;

/** A destination of lanes. Its methods throw ProtocolError or nothing. */
export interface Destination {
  /**
   * The sender has bound an interface. The destination must call `link.sendBound` once, unless the schemas are known to
   * differ.
   */
  bind(lane: Lane, binding: Binding): void;
  /**
   * A message of `size` bytes has come. `r` is positioned at its beginning, and is valid until this method returns. The
   * destination must either call `lane.consumed` once, or send one answer without the flag `credited`.
   */
  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void;
  /** The caller no longer waits. `reason` is one of `CancelReason`. */
  cancel(lane: Lane, call: number, reason: number): void;
  /** The lane has ended: its sender has closed it, or the link has ended. */
  laneClosed(lane: Lane): void;
}

/** The link of a lane, as the lane and its destination use it. */
export interface LaneLink extends FrameSender {
  readonly host: { laneSynced(lane: Lane, sync: number, casts: number): void };
  readonly peer: ProcId | undefined;
  /** The extents that the peer has numbered, by their numbers. */
  readonly extents: readonly Readonly<Record<string, number>>[];
  /** The streams that this side produces, by the number of the peer's call. */
  readonly streams: Map<number, StreamSource>;
  /** The sessions of this side, by the numbers of their lanes. */
  readonly sessions: readonly ({ readonly sender: MessageSender } | undefined)[];
}

/** A gate that keeps the messages of a lane until the casts that come before them have passed. */
export interface LaneGate {
  /** The destination of the lane after the gate has opened. */
  destination: Destination;
  /** A `sync` frame has come; the gate keeps it in its place among the messages. */
  sync(lane: Lane, sync: number, casts: number): void;
}

export class Lane {
  readonly link: LaneLink;
  readonly id: number;
  readonly sender: LaneSender;
  /** The target that the sender has named. */
  readonly target: SessionTarget;
  /** The current destination of frames, which may be a gate or a pause in front of the final destination. */
  destination: Destination;
  /** The gate that is the destination now, if the lane waits for casts. */
  gate: LaneGate | undefined;
  /** The destination's own data for each slot. */
  readonly slots: unknown[] = [];
  /** The error for messages to slots without data, if the interface was refused. */
  refusal: DeliveryError | undefined;
  /** Errors for single slots: the endpoints that the receiver does not have. */
  slotRefusals: Map<number, DeliveryError> | undefined;
  readonly credit: LaneCredit;
  isOpen = true;
  readonly #messageBatch: number;
  readonly #byteBatch: number;
  #messages = 0;
  #bytes = 0;

  constructor(link: LaneLink, id: number, { sender, target, credit }: LaneRequest, destination: Destination) {
    this.link = link;
    this.id = id;
    this.sender = sender;
    this.target = target;
    this.credit = credit;
    this.destination = destination;
    this.#messageBatch = Math.max(1, Math.floor(credit.messages / CREDIT_BATCHES));
    this.#byteBatch = Math.max(1, Math.floor(credit.bytes / CREDIT_BATCHES));
  }

  /** A message of `size` bytes, whose credit no answer returns, has left the mailbox. */
  consumed(size: number): void {
    this.#messages++;
    this.#bytes += size;
    if (this.#messages >= this.#messageBatch || this.#bytes >= this.#byteBatch) this.#returnCredit();
  }

  /**
   * Drops all messages until the sender has bound its interface again, because the sender does not know yet that the
   * schemas differ.
   */
  pause(): void {
    if (!(this.finalDestination instanceof PausedDestination))
      this.finalDestination = new PausedDestination(this.finalDestination);
  }

  /** Resolves when the sender has bound its interface again, or will never do so. It is undefined if the lane is not paused. */
  get whenResumed(): Promise<void> | undefined {
    return this.finalDestination instanceof PausedDestination ? this.finalDestination.whenResumed : undefined;
  }

  /** Sets the final destination. */
  redirect(to: Destination): void {
    if (this.finalDestination instanceof PausedDestination) this.finalDestination.redirect(to);
    else this.finalDestination = to;
  }

  /** The destination behind the gate, if there is one. */
  get finalDestination(): Destination {
    return this.gate === undefined ? this.destination : this.gate.destination;
  }

  set finalDestination(to: Destination) {
    if (this.gate === undefined) this.destination = to;
    else this.gate.destination = to;
  }

  /**
   * A `sync` frame has come. `sync` is one of `SyncKind`. A paused lane drops the frame, which the sender repeats with
   * the dropped messages.
   */
  syncReceived(sync: number, casts: number): void {
    if (this.gate !== undefined) this.gate.sync(this, sync, casts);
    else if (!(this.destination instanceof PausedDestination)) this.link.host.laneSynced(this, sync, casts);
  }

  /** Tells the sender that the destination has ended. */
  sendGone(reason: DeliveryReason, message: string): void {
    if (this.isOpen) this.link.sendGone(this.id, reason, message);
  }

  /** Answers `SyncKind.reached`: everything that came before it has been handled. */
  confirmReached(): void {
    this.#sendCredit(0, 0);
  }

  #returnCredit(): void {
    this.#sendCredit(this.#messages, this.#bytes);
    this.#messages = 0;
    this.#bytes = 0;
  }

  #sendCredit(messages: number, bytes: number): void {
    if (!this.isOpen) return;
    const { outbox } = this.link;
    const w = outbox.writer;
    const at = beginFrame(w, FrameKind.credit, this.id, messages);
    writeU32(w, bytes);
    outbox.commit(at);
  }
}

/**
 * The destination of a paused lane. It drops messages and returns no credit for them. The sender has kept copies and
 * sends them again after it has bound the interface in a layout that both sides know.
 */
class PausedDestination implements Destination {
  readonly whenResumed: Promise<void>;
  #destination: Destination;
  #resume: () => void = () => {};

  constructor(destination: Destination) {
    this.#destination = destination;
    this.whenResumed = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  redirect(to: Destination): void {
    this.#destination = to;
  }

  bind(lane: Lane, binding: Binding): void {
    if (binding.layout === Layout.lockstep) return;
    lane.finalDestination = this.#destination;
    this.#destination.bind(lane, binding);
    this.#resume();
  }

  message(): void {}

  cancel(): void {}

  laneClosed(lane: Lane): void {
    this.#destination.laneClosed(lane);
    this.#resume();
  }
}
