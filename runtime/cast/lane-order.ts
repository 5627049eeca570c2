/** Where the direct messages of one session stand among the casts of the same sender to the same actor. */
import type { ProcId } from "../link/address.js";
import { Sync } from "../link/frame.js";
import type { CastOrder, Session } from "../link/session.js";

/** What is known of the casts of one sender to a mesh. */
export interface OrderedCasts {
  /** Casts to each actor, since it lives where it does. */
  readonly counts: Uint32Array;
  /** Sessions with messages that the receiver must have before the next cast. */
  readonly dirty: Map<number, LaneOrder>;
  /** Actors that cannot be cast to: their direct messages do not wait for casts, which come to them before or not at all. */
  readonly excluded: ReadonlySet<number>;
  /** @param proc where the actor of the session lived */
  sessionEnded(base: number, index: number, proc: ProcId | undefined): void;
}

export class LaneOrder implements CastOrder {
  readonly #caster: OrderedCasts;
  readonly #session: Session;
  readonly #base: number;
  /** Casts that the receiver knows to come before what is sent next. */
  #told = 0;
  /** The last cast that waits for what was sent before it; -1: none. */
  #marked = -1;

  constructor(caster: OrderedCasts, session: Session, base: number) {
    this.#caster = caster;
    this.#session = session;
    this.#base = base;
  }

  behind(): void {
    const { counts, dirty, excluded } = this.#caster;
    const casts = counts[this.#base]!;
    dirty.set(this.#base, this);
    if (casts === this.#told) return;
    this.#told = casts;
    // What was cast came back to its sender. It may be on its way all the same: whoever was taken for dead may live.
    this.#session.sync(excluded.has(this.#base) ? Sync.without : Sync.after, casts);
  }

  /** A cast comes after what has been sent. */
  mark(cast: number): void {
    this.#caster.dirty.delete(this.#base);
    this.#marked = cast;
    this.#session.sync(Sync.mark, cast);
  }

  ended(): void {
    const { dirty } = this.#caster;
    if (dirty.get(this.#base) === this) dirty.delete(this.#base);
    if (this.#marked >= 0) this.#caster.sessionEnded(this.#base, this.#marked, this.#session.link.peer);
  }
}
