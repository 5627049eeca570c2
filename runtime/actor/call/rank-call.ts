/** The call to one rank as a part of a call to several ranks. The link keeps it until the answer arrives. */
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { Session } from "../../link/outbound/session.js";
import type { Reader } from "../../wire/reader.js";

/** Receives the answers of several ranks. The methods never throw. */
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
  /** The rank in the called mesh or slice. */
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

  /** Abandons the call if it is pending. @param reason an index of `cancelReasons` */
  abandon(reason: number): void {
    if (this.id !== 0) this.session?.abandon(this, reason);
  }
}
