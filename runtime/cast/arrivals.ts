/**
 * Where the casts and the direct messages of one sender to one actor come together, on the actor's proc, in the order in
 * which they were sent. Casts come down trees, in any order; each says how many come before it. Direct messages come over
 * a lane, on which `sync` frames say where they stand. What comes early waits.
 *
 * Casts that have their turn take a lane of their own to the actor, from this proc to itself: everything that holds for
 * messages holds for them. When direct messages wait for casts, that lane is asked how far they have come.
 */
import type { ActorId, MeshId, ProcId } from "../link/address.js";
import type { OtherSchema } from "../link/binding.js";
import type { DeliveryError } from "../link/errors.js";
import { Sync } from "../link/frame.js";
import { Gate } from "../link/gate.js";
import type { Lane } from "../link/lane.js";
import type { Sender, Session, SessionTarget } from "../link/session.js";
import { before, Way } from "./cast-frame.js";
import type { CastInterface } from "./setup.js";

/** A cast that has come for one rank. */
export interface Arriving {
  readonly seq: number;
  /** Casts of the sender to the rank before it. */
  readonly index: number;
  /** `Way.plain` or `Way.marked`. */
  readonly way: number;
  /** Its turn has come. */
  post(to: Arrivals): void;
  /** Nobody waits for it any more: what is left of it is its place. */
  cancel(): void;
}

/** Who sends, as its messages say. */
export type CastSender = ActorId & { readonly name: string };

export class Arrivals implements Sender {
  readonly id: CastSender;
  readonly name: string;
  /** Told of messages that came back. */
  onBounce: ((label: string, error: DeliveryError) => void) | undefined;
  readonly #target: SessionTarget;
  readonly #open: (from: Arrivals, target: SessionTarget) => Session;
  readonly #schemas = new Map<unknown, OtherSchema>();
  readonly #held = new Map<number, Arriving>();
  #gates: { readonly gate: Gate; readonly casts: number }[] = [];
  /** Casts that have had their turn. */
  #next = 0;
  /** Those of them that have come out of their lane, as far as it was asked. */
  #passed = 0;
  /** How far it was asked. */
  #asked = 0;
  /** Casts before which all direct messages have come. */
  #marked = 0;
  #session: Session | undefined;
  /** The sender is no more: nothing waits. */
  #over = false;
  /** Told once all that came has passed, if the sender has ended. */
  #settled: () => void = () => {};

  /** @param open opens a lane from this proc to itself */
  constructor(
    sender: CastSender,
    target: { readonly proc: ProcId; readonly mesh: MeshId; readonly owner: ProcId; readonly rank: number },
    open: (from: Arrivals, target: SessionTarget) => Session,
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
  agree(known: CastInterface, done: (other: OtherSchema | undefined) => void): void {
    if (this.#over) {
      done(undefined);
      return;
    }
    const { session } = this;
    session.slotOf(known);
    session.afterSending(() => done(this.#schemas.get(known)));
  }

  /** @returns false if it has come before, or its sender is known to have ended */
  arrive(cast: Arriving): boolean {
    if (this.#over || before(cast.index, this.#next)) return false;
    this.#held.set(cast.index, cast);
    this.#advance();
    return true;
  }

  /** Nobody waits for the answers to a cast any more. */
  cancel(seq: number): void {
    for (const cast of this.#held.values()) if (cast.seq === seq) cast.cancel();
  }

  /** A `sync` frame on a lane of direct messages, or on the lane of casts. */
  synced(lane: Lane, sync: number, casts: number): void {
    if (sync === Sync.passed) this.#havePassed(casts);
    else if (sync === Sync.mark) this.release(casts);
    else {
      if (sync === Sync.without) this.#skip(casts);
      // Of one that has ended, what has not come will not come.
      const needed = this.#over && before(this.#next, casts) ? this.#next : casts;
      if (!before(this.#passed, needed)) return;
      this.#gates.push({ gate: new Gate(lane), casts: needed });
      this.#askLane();
    }
  }

  /** All direct messages before the cast with a number have come, or will not come. */
  release(index: number): void {
    if (!before(this.#marked, index + 1)) return;
    this.#marked = (index + 1) >>> 0;
    this.#advance();
  }

  /**
   * The sender has ended, or its process: no more casts will come, nor what it has sent after those that are missing.
   * Only the first call counts.
   * @param settled called when what has come has passed, maybe at once
   */
  end(settled: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#held.clear();
    const missing = this.#gates.filter(({ casts }) => before(this.#next, casts));
    this.#gates = this.#gates.filter(({ casts }) => !before(this.#next, casts));
    for (const { gate } of missing) gate.drop();
    if (before(this.#asked, this.#next)) this.#ask();
    this.#session?.close();
    if (this.#passed === this.#next) settled();
    else this.#settled = settled;
  }

  compare(_session: Session, known: unknown, other: OtherSchema): undefined {
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
    this.#havePassed(this.#next);
  }

  /** Casts before one with a number have come back to their sender: those that come yet are nobody's. */
  #skip(casts: number): void {
    if (!before(this.#next, casts)) return;
    for (const [index, cast] of [...this.#held]) {
      if (!before(index, casts)) continue;
      this.#held.delete(index);
      cast.cancel();
      cast.post(this);
    }
    this.#next = casts;
    this.#advance();
  }

  #advance(): void {
    for (let cast = this.#held.get(this.#next); cast !== undefined; cast = this.#held.get(this.#next)) {
      if (cast.way === Way.marked && before(this.#marked, cast.index + 1)) break;
      this.#held.delete(this.#next);
      this.#next = (this.#next + 1) >>> 0;
      cast.post(this);
    }
    this.#askLane();
  }

  /** Asks how far the lane has come, if direct messages wait for casts that have had their turn and were not asked for. */
  #askLane(): void {
    if (this.#gates.some(({ casts }) => before(this.#asked, casts) && !before(this.#next, casts))) this.#ask();
  }

  #ask(): void {
    this.#asked = this.#next;
    if (this.#session === undefined) this.#havePassed(this.#next);
    else this.#session.sync(Sync.passed, this.#next);
  }

  #havePassed(casts: number): void {
    if (!before(this.#passed, casts)) return;
    this.#passed = casts;
    const open = this.#gates.filter((waiting) => !before(casts, waiting.casts));
    this.#gates = this.#gates.filter((waiting) => before(casts, waiting.casts));
    for (const { gate } of open) gate.open();
    if (casts === this.#next) this.#settled();
  }
}
