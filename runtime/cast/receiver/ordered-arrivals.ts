/**
 * Merges the casts and the direct messages of one sender to one actor, on the actor's proc, in the order in which they
 * were sent. Casts arrive over trees, in any order; each has the number of casts before it. Direct messages arrive over
 * a lane, on which `sync` frames give their place among the casts. Messages that arrive early are kept.
 *
 * Casts whose turn has come take a lane of their own, from this proc to itself, so that credit and backpressure apply
 * to them as to all messages. When direct messages wait for casts, a `sync` frame on that lane asks how many casts have
 * passed.
 */
import type { ActorId, MeshId, ProcId } from "../../link/address.js";
import type { DeliveryError } from "../../link/errors.js";
import type { PeerSchema } from "../../link/frame/binding.js";
import { SyncKind } from "../../link/frame/frame.js";
import type { Lane } from "../../link/inbound/lane.js";
import { OrderGate } from "../../link/inbound/order-gate.js";
import type { MessageSender, Session, SessionTarget } from "../../link/outbound/session.js";
import { CastOrdering, comesBefore } from "../tree/cast-frame.js";
import type { CastInterface } from "../tree/tree-setup.js";

/** A cast that has arrived for one rank. */
export interface OrderedCast {
  readonly seq: number;
  /** The number of casts of the sender to the rank before this one. */
  readonly index: number;
  /** `CastOrdering.plain` or `CastOrdering.marked`. */
  readonly ordering: number;
  /** Delivers the cast, whose turn has come. */
  post(to: OrderedArrivals): void;
  /** Drops the message of the cast, for which nobody waits any more. The cast keeps its place in the order. */
  cancel(): void;
}

/** The sender of casts. */
export type CastOrigin = ActorId & { readonly name: string };

export class OrderedArrivals implements MessageSender {
  readonly id: CastOrigin;
  readonly name: string;
  /** Called with messages that could not be delivered. */
  onBounce: ((label: string, error: DeliveryError) => void) | undefined;
  readonly #target: SessionTarget;
  readonly #open: (from: OrderedArrivals, target: SessionTarget) => Session;
  readonly #schemas = new Map<unknown, PeerSchema>();
  readonly #heldCasts = new Map<number, OrderedCast>();
  #gates: { readonly gate: OrderGate; readonly casts: number }[] = [];
  /** The number of casts that were posted to the lane. */
  #nextIndex = 0;
  /** The number of casts that are known to have passed the lane. */
  #confirmedPassed = 0;
  /** The number of casts about which the lane was last asked. */
  #asked = 0;
  /** The number of casts whose preceding direct messages have all arrived. */
  #directMessagesUpTo = 0;
  #session: Session | undefined;
  /** Whether the sender has ended. */
  #senderEnded = false;
  /** Called when the sender has ended and all its casts have passed. */
  #onSettled: () => void = () => {};

  /**
   * Creates the arrivals of one sender to one actor.
   * @param open opens a session from this proc to itself
   */
  constructor(
    sender: CastOrigin,
    target: { readonly proc: ProcId; readonly mesh: MeshId; readonly owner: ProcId; readonly rank: number },
    open: (from: OrderedArrivals, target: SessionTarget) => Session,
  ) {
    this.id = sender;
    this.name = sender.name;
    const { proc, mesh, owner, rank } = target;
    this.#target = { kind: "actor", proc, number: mesh, rank, owner, fingerprint: 0n };
    this.#open = open;
  }

  /** The session that casts take. It is opened on first use, and again after it was closed. */
  get session(): Session {
    this.#session ??= this.#open(this, this.#target);
    return this.#session;
  }

  /**
   * Calls `done` when the actor has reported its schema of an interface.
   * @param done gets undefined if the schemas are equal, if the actor does not exist, or if the sender has ended
   */
  askForSchema(known: CastInterface, done: (other: PeerSchema | undefined) => void): void {
    if (this.#senderEnded) {
      done(undefined);
      return;
    }
    const { session } = this;
    session.slotOf(known);
    session.afterAllSent(() => done(this.#schemas.get(known)));
  }

  /**
   * Adds a cast that has arrived.
   * @returns false if the cast arrived before, or its sender has ended
   */
  addCast(cast: OrderedCast): boolean {
    if (this.#senderEnded || comesBefore(cast.index, this.#nextIndex)) return false;
    this.#heldCasts.set(cast.index, cast);
    this.#postReady();
    return true;
  }

  /** Cancels a cast whose caller no longer waits. */
  cancel(seq: number): void {
    for (const cast of this.#heldCasts.values()) if (cast.seq === seq) cast.cancel();
  }

  /** Handles a `sync` frame on a lane of direct messages, or on the lane of casts. */
  syncReceived(lane: Lane, sync: number, casts: number): void {
    if (sync === SyncKind.passed) this.#notePassed(casts);
    else if (sync === SyncKind.mark) this.releaseUpTo(casts);
    else {
      if (sync === SyncKind.without) this.#skipTo(casts);
      // Casts of an ended sender that have not arrived will not arrive.
      const needed = this.#senderEnded && comesBefore(this.#nextIndex, casts) ? this.#nextIndex : casts;
      if (!comesBefore(this.#confirmedPassed, needed)) return;
      this.#gates.push({ gate: new OrderGate(lane), casts: needed });
      this.#askIfNeeded();
    }
  }

  /** All direct messages before the cast with a number have arrived, or will not arrive. */
  releaseUpTo(index: number): void {
    if (!comesBefore(this.#directMessagesUpTo, index + 1)) return;
    this.#directMessagesUpTo = (index + 1) >>> 0;
    this.#postReady();
  }

  /**
   * The sender has ended. No more casts will arrive, and direct messages that come after missing casts are dropped.
   * Only the first call counts.
   * @param settled called when everything that has arrived has passed; the call may be immediate
   */
  senderEnded(settled: () => void): void {
    if (this.#senderEnded) return;
    this.#senderEnded = true;
    this.#heldCasts.clear();
    const missing = this.#gates.filter(({ casts }) => comesBefore(this.#nextIndex, casts));
    this.#gates = this.#gates.filter(({ casts }) => !comesBefore(this.#nextIndex, casts));
    for (const { gate } of missing) gate.giveUp();
    if (comesBefore(this.#asked, this.#nextIndex)) this.#askHowFar();
    this.#session?.close();
    if (this.#confirmedPassed === this.#nextIndex) settled();
    else this.#onSettled = settled;
  }

  compare(_session: Session, known: unknown, other: PeerSchema): undefined {
    this.#schemas.set(known, other);
  }

  translate(): never {
    throw new Error("a cast cannot be read by the actor, whose schema has changed since the cast's tree was set up");
  }

  bounced(session: Session, slot: number, error: DeliveryError): void {
    this.onBounce?.(session.labelOf(slot), error);
  }

  targetEnded(): void {}

  sessionEnded(session: Session): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#notePassed(this.#nextIndex);
  }

  /**
   * Casts before the one with a number were returned to their sender as undeliverable. Those of them that still arrive
   * are dropped.
   */
  #skipTo(casts: number): void {
    if (!comesBefore(this.#nextIndex, casts)) return;
    for (const [index, cast] of [...this.#heldCasts]) {
      if (!comesBefore(index, casts)) continue;
      this.#heldCasts.delete(index);
      cast.cancel();
      cast.post(this);
    }
    this.#nextIndex = casts;
    this.#postReady();
  }

  #postReady(): void {
    for (
      let cast = this.#heldCasts.get(this.#nextIndex);
      cast !== undefined;
      cast = this.#heldCasts.get(this.#nextIndex)
    ) {
      if (cast.ordering === CastOrdering.marked && comesBefore(this.#directMessagesUpTo, cast.index + 1)) break;
      this.#heldCasts.delete(this.#nextIndex);
      this.#nextIndex = (this.#nextIndex + 1) >>> 0;
      cast.post(this);
    }
    this.#askIfNeeded();
  }

  /** Asks how many casts have passed the lane, if direct messages wait for casts that were posted since the last question. */
  #askIfNeeded(): void {
    if (this.#gates.some(({ casts }) => comesBefore(this.#asked, casts) && !comesBefore(this.#nextIndex, casts)))
      this.#askHowFar();
  }

  #askHowFar(): void {
    this.#asked = this.#nextIndex;
    if (this.#session === undefined) this.#notePassed(this.#nextIndex);
    else this.#session.sendSync(SyncKind.passed, this.#nextIndex);
  }

  #notePassed(casts: number): void {
    if (!comesBefore(this.#confirmedPassed, casts)) return;
    this.#confirmedPassed = casts;
    const open = this.#gates.filter((waiting) => !comesBefore(casts, waiting.casts));
    this.#gates = this.#gates.filter((waiting) => comesBefore(casts, waiting.casts));
    for (const { gate } of open) gate.release();
    if (casts === this.#nextIndex) this.#onSettled();
  }
}
