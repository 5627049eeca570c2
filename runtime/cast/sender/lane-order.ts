/** Orders the direct messages of one session among the casts of the same sender to the same actor. */
import type { ProcId } from "../../link/address.js";
import { SyncKind } from "../../link/frame/frame.js";
import type { CastOrder, Session } from "../../link/outbound/session.js";

/** The casts of one sender to one mesh, as the order of a session uses them. */
export interface OrderedCasts {
  /** The number of casts to each actor, since the actor has been on its current proc. 0 for those that have left. */
  readonly castCounts: Uint32Array;
  /** The sessions with messages that the receiver must handle before the next cast. */
  readonly unmarkedLanes: Map<number, LaneOrder>;
  /** The actors to which casts are impossible. Their direct messages do not wait for casts. */
  readonly excluded: ReadonlySet<number>;
  /**
   * A session has ended.
   * @param proc the proc of the actor during the session
   */
  sessionEnded(base: number, index: number, proc: ProcId | undefined): void;
}

export class LaneOrder implements CastOrder {
  readonly #casts: OrderedCasts;
  readonly #session: Session;
  readonly #base: number;
  /** The number of casts that the receiver knows to come before the next message. */
  #announced = 0;
  /** The number of the last cast that waits for earlier messages of the session, or -1 for none. */
  #lastMarked = -1;

  constructor(casts: OrderedCasts, session: Session, base: number) {
    this.#casts = casts;
    this.#session = session;
    this.#base = base;
  }

  beforeMessage(): void {
    const { castCounts, unmarkedLanes, excluded } = this.#casts;
    const casts = castCounts[this.#base]!;
    unmarkedLanes.set(this.#base, this);
    if (casts === this.#announced) return;
    this.#announced = casts;
    // The casts were returned to the sender as undeliverable, but may still arrive, because a proc that was considered
    // dead may be alive.
    this.#session.sendSync(excluded.has(this.#base) ? SyncKind.without : SyncKind.after, casts);
  }

  /** Tells the receiver that a cast comes after the messages that were sent so far. */
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
