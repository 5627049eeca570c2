/** Where the direct messages of one session stand among the casts of the same sender to the same actor. */
import type { ProcId } from "../../link/address.js";
import { SyncKind } from "../../link/frame/frame.js";
import type { CastOrder, Session } from "../../link/outbound/session.js";

/** What is known of the casts of one sender to a mesh. */
export interface OrderedCasts {
  /** Casts to each actor, since it lives where it does. */
  readonly castCounts: Uint32Array;
  /** Sessions with messages that the receiver must have before the next cast. */
  readonly unmarkedLanes: Map<number, LaneOrder>;
  /** Actors that cannot be cast to: their direct messages do not wait for casts, which come to them before or not at all. */
  readonly excluded: ReadonlySet<number>;
  /** @param proc where the actor of the session lived */
  sessionEnded(base: number, index: number, proc: ProcId | undefined): void;
}

export class LaneOrder implements CastOrder {
  readonly #casts: OrderedCasts;
  readonly #session: Session;
  readonly #base: number;
  /** Casts that the receiver knows to come before what is sent next. */
  #announced = 0;
  /** The last cast that waits for what was sent before it; -1: none. */
  #lastMarked = -1;

  constructor(caster: OrderedCasts, session: Session, base: number) {
    this.#casts = caster;
    this.#session = session;
    this.#base = base;
  }

  beforeMessage(): void {
    const { castCounts, unmarkedLanes, excluded } = this.#casts;
    const casts = castCounts[this.#base]!;
    unmarkedLanes.set(this.#base, this);
    if (casts === this.#announced) return;
    this.#announced = casts;
    // What was cast came back to its sender. It may be on its way all the same: whoever was taken for dead may live.
    this.#session.sendSync(excluded.has(this.#base) ? SyncKind.without : SyncKind.after, casts);
  }

  /** A cast comes after what has been sent. */
  markBefore(cast: number): void {
    this.#casts.unmarkedLanes.delete(this.#base);
    this.#lastMarked = cast;
    this.#session.sendSync(SyncKind.mark, cast);
  }

  sessionEnded(): void {
    const { unmarkedLanes } = this.#casts;
    if (unmarkedLanes.get(this.#base) === this) unmarkedLanes.delete(this.#base);
    if (this.#lastMarked >= 0) this.#casts.sessionEnded(this.#base, this.#lastMarked, this.#session.link.peer);
  }
}
