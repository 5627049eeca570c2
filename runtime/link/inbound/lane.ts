/**
 * The receiving end of a lane: the messages of one sender to one destination on one link. Counts what the destination
 * has consumed and gives the credit back in batches. What a message means is the destination's concern.
 */
import type { Reader } from "../../wire/reader.js";
import type { ActorId } from "../address.js";
import type { DeliveryError, DeliveryReason } from "../errors.js";
import { type Binding, Layout } from "../frame/binding.js";
import { writeU32 } from "../frame/control-body.js";
import { beginFrame, FrameKind } from "../frame/frame.js";
import type { Link } from "../link.js";
import type { LaneRequest } from "../link-host.js";
import type { SessionTarget } from "../outbound/message-sender.js";
import { OrderGate } from "./order-gate.js";

/** Who sends on a lane, as its sender says. */
export interface LaneSender extends ActorId {
  /** For people: `counters[1]`, or the name of a program. */
  readonly name: string;
}

/** Credit is given back when a quarter of what the sender has is used up. */
const CREDIT_BATCHES = 4;

/** Something that lanes lead to. None of these throws, except ProtocolError. */
export interface Destination {
  /** An interface is going to be used; `link.sendBound` must follow, once, unless the schemas are known to differ. */
  bind(lane: Lane, binding: Binding): void;
  /**
   * A message of `size` bytes; `r` stands at its beginning and holds it until this returns. Either `lane.consumed` or
   * an answer without the flag `credited` must follow, once.
   */
  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void;
  /** The caller no longer waits; `reason` is one of `CancelReason`. */
  cancel(lane: Lane, call: number, reason: number): void;
  /** The lane is gone: its sender has closed it, or the link has ended. */
  laneClosed(lane: Lane): void;
}

export class Lane {
  readonly link: Link;
  readonly id: number;
  readonly sender: LaneSender;
  /** Where it leads, as its sender says. */
  readonly target: SessionTarget;
  /** What is told of each frame; not always where the lane leads in the end. */
  destination: Destination;
  /** What the destination keeps for each slot. */
  readonly slots: unknown[] = [];
  /** Why slots that it keeps nothing for cannot be used. */
  refusal: DeliveryError | undefined;
  /** The same for single slots: endpoints that the receiver does not have. */
  slotRefusals: Map<number, DeliveryError> | undefined;
  readonly credit: LaneCredit;
  isOpen = true;
  readonly #messageBatch: number;
  readonly #byteBatch: number;
  #messages = 0;
  #bytes = 0;

  constructor(link: Link, id: number, { sender, target, credit }: LaneRequest, destination: Destination) {
    this.link = link;
    this.id = id;
    this.sender = sender;
    this.target = target;
    this.credit = credit;
    this.destination = destination;
    this.#messageBatch = Math.max(1, Math.floor(credit.messages / CREDIT_BATCHES));
    this.#byteBatch = Math.max(1, Math.floor(credit.bytes / CREDIT_BATCHES));
  }

  /** A message of `size` bytes, whose credit no answer brings back, has left the mailbox. */
  consumed(size: number): void {
    this.#messages++;
    this.#bytes += size;
    if (this.#messages >= this.#messageBatch || this.#bytes >= this.#byteBatch) this.#returnCredit();
  }

  /** Nothing more is taken until the sender has named its interface again: it does not know yet that schemas differ. */
  pause(): void {
    if (!(this.finalDestination instanceof PausedDestination))
      this.finalDestination = new PausedDestination(this.finalDestination);
  }

  /** Settles when the sender has named its interface again, or never will; undefined: it need not. */
  get whenResumed(): Promise<void> | undefined {
    return this.finalDestination instanceof PausedDestination ? this.finalDestination.whenResumed : undefined;
  }

  /** Another destination takes over. */
  redirect(to: Destination): void {
    if (this.finalDestination instanceof PausedDestination) this.finalDestination.redirect(to);
    else this.finalDestination = to;
  }

  /** Where it leads when it does not wait for casts. */
  get finalDestination(): Destination {
    return this.destination instanceof OrderGate ? this.destination.destination : this.destination;
  }

  set finalDestination(to: Destination) {
    if (this.destination instanceof OrderGate) this.destination.destination = to;
    else this.destination = to;
  }

  /** What comes has a place among casts; `sync` is one of `Sync`. What is not taken comes again, with its place. */
  syncReceived(sync: number, casts: number): void {
    if (this.destination instanceof OrderGate) this.destination.sync(this, sync, casts);
    else if (!(this.destination instanceof PausedDestination)) this.link.host.laneSynced(this, sync, casts);
  }

  /** Tells the sender that nothing will be received any more. */
  sendGone(reason: DeliveryReason, message: string): void {
    if (this.isOpen) this.link.sendGone(this.id, reason, message);
  }

  /** Answers `Sync.reached`: everything that came before it has been handled. */
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
 * What comes before the sender knows that schemas differ is not taken, and no credit given back for it: the sender has
 * kept it and sends it again, behind the interface in a layout that both know.
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

/** What a sender may have un-consumed, and how far streams that it asks for may be ahead of it. */
export interface LaneCredit {
  readonly messages: number;
  readonly bytes: number;
  readonly streamItems: number;
  readonly streamBytes: number;
}
