/**
 * Where the casts and the direct messages of one sender to one actor come together, on the actor's proc, in the order in
 * which they were sent. Casts come down trees, in any order; each says how many come before it. Direct messages come over
 * a lane, on which `sync` frames say where they stand. What comes early waits.
 *
 * Casts that have their turn take a lane of their own to the actor, from this proc to itself: everything that holds for
 * messages holds for them. When direct messages wait for casts, that lane is asked how far they have come.
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

/** A cast that has come for one rank. */
export interface OrderedCast {
  readonly seq: number;
  /** Casts of the sender to the rank before it. */
  readonly index: number;
  /** `Way.plain` or `Way.marked`. */
  readonly ordering: number;
  /** Its turn has come. */
  post(to: OrderedArrivals): void;
  /** Nobody waits for it any more: what is left of it is its place. */
  cancel(): void;
}

/** Who sends, as its messages say. */
export type CastOrigin = ActorId & { readonly name: string };

export class OrderedArrivals implements MessageSender {
  readonly id: CastOrigin;
  readonly name: string;
  /** Told of messages that came back. */
  onBounce: ((label: string, error: DeliveryError) => void) | undefined;
  readonly #target: SessionTarget;
  readonly #open: (from: OrderedArrivals, target: SessionTarget) => Session;
  readonly #schemas = new Map<unknown, PeerSchema>();
  readonly #heldCasts = new Map<number, OrderedCast>();
  #gates: { readonly gate: OrderGate; readonly casts: number }[] = [];
  /** Casts that have had their turn. */
  #nextIndex = 0;
  /** Those of them that have come out of their lane, as far as it was asked. */
  #confirmedPassed = 0;
  /** How far it was asked. */
  #asked = 0;
  /** Casts before which all direct messages have come. */
  #directMessagesUpTo = 0;
  #session: Session | undefined;
  /** The sender is no more: nothing waits. */
  #senderEnded = false;
  /** Told once all that came has passed, if the sender has ended. */
  #onSettled: () => void = () => {};

  /** @param open opens a lane from this proc to itself */
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

  /** The lane that casts take; opened on first use, and again when it was closed. */
  get session(): Session {
    this.#session ??= this.#open(this, this.#target);
    return this.#session;
  }

  /** Calls `done` when the actor has said by which schema it knows an interface; undefined: the same, or it is not there, or the sender is. */
  askForSchema(known: CastInterface, done: (other: PeerSchema | undefined) => void): void {
    if (this.#senderEnded) {
      done(undefined);
      return;
    }
    const { session } = this;
    session.slotOf(known);
    session.afterAllSent(() => done(this.#schemas.get(known)));
  }

  /** @returns false if it has come before, or its sender is known to have ended */
  addCast(cast: OrderedCast): boolean {
    if (this.#senderEnded || comesBefore(cast.index, this.#nextIndex)) return false;
    this.#heldCasts.set(cast.index, cast);
    this.#postReady();
    return true;
  }

  /** Nobody waits for the answers to a cast any more. */
  cancel(seq: number): void {
    for (const cast of this.#heldCasts.values()) if (cast.seq === seq) cast.cancel();
  }

  /** A `sync` frame on a lane of direct messages, or on the lane of casts. */
  syncReceived(lane: Lane, sync: number, casts: number): void {
    if (sync === SyncKind.passed) this.#notePassed(casts);
    else if (sync === SyncKind.mark) this.releaseUpTo(casts);
    else {
      if (sync === SyncKind.without) this.#skipTo(casts);
      // Of one that has ended, what has not come will not come.
      const needed = this.#senderEnded && comesBefore(this.#nextIndex, casts) ? this.#nextIndex : casts;
      if (!comesBefore(this.#confirmedPassed, needed)) return;
      this.#gates.push({ gate: new OrderGate(lane), casts: needed });
      this.#askIfNeeded();
    }
  }

  /** All direct messages before the cast with a number have come, or will not come. */
  releaseUpTo(index: number): void {
    if (!comesBefore(this.#directMessagesUpTo, index + 1)) return;
    this.#directMessagesUpTo = (index + 1) >>> 0;
    this.#postReady();
  }

  /**
   * The sender has ended, or its process: no more casts will come, nor what it has sent after those that are missing.
   * Only the first call counts.
   * @param settled called when what has come has passed, maybe at once
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

  /** Casts before one with a number have come back to their sender: those that come yet are nobody's. */
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

  /** Asks how far the lane has come, if direct messages wait for casts that have had their turn and were not asked for. */
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
