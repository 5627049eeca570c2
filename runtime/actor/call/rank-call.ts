/** One rank's part of a call to several: what its link keeps, and whom it tells. */
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { Session } from "../../link/outbound/session.js";
import type { Reader } from "../../wire/reader.js";

/** Who waits for the answers of several ranks. None of these throws. */
export interface RankCallOwner {
  answered(rank: number, r: Reader): void;
  failed(rank: number, error: Error): void;
  item(call: RankCall, r: Reader, size: number): void;
  ended(rank: number): void;
}

export class RankCall implements PendingCall {
  id = 0;
  session: Session | undefined;
  credit = 0;
  isAbandoned = false;
  /** In the mesh that was called. */
  readonly rank: number;
  readonly #target: RankCallOwner;

  constructor(target: RankCallOwner, rank: number) {
    this.#target = target;
    this.rank = rank;
  }

  answered(r: Reader): void {
    this.#target.answered(this.rank, r);
  }

  failed(error: Error): void {
    this.#target.failed(this.rank, error);
  }

  item(r: Reader, size: number): void {
    this.#target.item(this, r, size);
  }

  ended(): void {
    this.#target.ended(this.rank);
  }

  /** Gives up, if it is still pending; `reason` is an index of `cancelReasons`. */
  abandon(reason: number): void {
    if (this.id !== 0) this.session?.abandon(this, reason);
  }
}
