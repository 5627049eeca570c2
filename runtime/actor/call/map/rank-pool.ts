/**
 * The ranks that a `map` can give items to. Each rank has a number of places, one for each item that it may have in flight.
 * The places of a rank that is down are kept until the rank is back.
 */
import type { LocalActor } from "../../reference/local-actor.js";
import type { MeshView } from "../../reference/mesh-view.js";
import { isLiving } from "../living-ranks.js";

/** Is told what happens to the ranks of a pool between two takes. */
export interface RankPoolListener {
  /** A rank that was down is back. */
  rankBack(): void;
  /** All ranks are down, and none will come back. */
  allLost(): void;
}

export class RankPool {
  readonly #view: MeshView;
  readonly #sender: LocalActor;
  readonly #listener: RankPoolListener;
  /** The ranks of the free places. The rank whose place became free first is used first. */
  readonly #free: number[] = [];
  /** The number of free places of each rank that is down. */
  readonly #down = new Map<number, number>();
  readonly #lost = new Set<number>();
  /** The number of ranks that may come back. They keep the process alive, because no call does. */
  #returning = 0;
  #isClosed = false;

  /** @param places the number of places of each rank */
  constructor(view: MeshView, sender: LocalActor, places: number, listener: RankPoolListener) {
    this.#view = view;
    this.#sender = sender;
    this.#listener = listener;
    // The first items go to different ranks.
    for (let place = 0; place < places; place++) for (let rank = 0; rank < view.size; rank++) this.#free.push(rank);
  }

  /** Takes a free place and returns its rank, or undefined if no living rank has one. */
  take(): number | undefined {
    for (;;) {
      const rank = this.#free.shift();
      if (rank === undefined) return undefined;
      const places = this.#down.get(rank);
      if (places !== undefined) this.#down.set(rank, places + 1);
      else if (isLiving(this.#view, this.#sender, rank)) return rank;
      else {
        this.#free.push(rank);
        this.rankFailed(rank);
      }
    }
  }

  /** Gives a place back that was used. */
  release(rank: number): void {
    this.#free.push(rank);
  }

  /** Gives a place back that was not used. It is the next one that is taken. */
  putBack(rank: number): void {
    this.#free.unshift(rank);
  }

  /** Records that a call to a rank has failed because the rank is down. */
  rankFailed(rank: number): void {
    if (this.#down.has(rank)) return;
    this.#down.set(rank, 0);
    this.#watch(rank);
  }

  /** Stops waiting for ranks. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#returning > 0) this.#sender.proc.keepAlive.release();
  }

  #watch(rank: number): void {
    const { proc } = this.#sender;
    const downtime = proc.downtimeOf(this.#view.target(rank));
    if (downtime === undefined) {
      for (let places = this.#down.get(rank) ?? 0; places > 0; places--) this.#free.push(rank);
      this.#down.delete(rank);
    } else if (downtime.isLost) {
      this.#lost.add(rank);
      if (this.#lost.size === this.#view.size) this.#listener.allLost();
    } else {
      if (this.#returning++ === 0) proc.keepAlive.hold();
      void downtime.whenSettled.then(() => this.#settled(rank));
    }
  }

  #settled(rank: number): void {
    if (this.#isClosed) return;
    if (--this.#returning === 0) this.#sender.proc.keepAlive.release();
    this.#watch(rank);
    this.#listener.rankBack();
  }
}
