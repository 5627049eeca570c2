/**
 * The ranks of a mesh of actors that have failed, those that wait for a restart, and the incarnations of their actors. It
 * neither restarts actors nor reports failures. Its lists are allocated on demand, because most meshes have no failures.
 */
import type { Timer } from "../../link/clock.js";
import type { FailureCause } from "../../supervise/failure-cause.js";

export class FailedRanks {
  #causes: Map<number, FailureCause> | undefined;
  /**
   * Failed ranks that will be restarted, and whose failure has not been reported to the owner. The timer is undefined
   * if the rank waits for another process.
   */
  #pendingRestarts: Map<number, Timer | undefined> | undefined;
  /** How many times the actor of each rank has been replaced, or was to be replaced. */
  #incarnations: Map<number, number> | undefined;
  /** The incarnation of each living actor that is not the first of its rank. */
  #liveIncarnations: Map<number, number> | undefined;

  /** The number of failed ranks, including those that will be restarted. */
  get size(): number {
    return this.#causes?.size ?? 0;
  }

  has(rank: number): boolean {
    return this.#causes?.has(rank) === true;
  }

  /** Returns the failed rank with the lowest number, and why it has failed. */
  get first(): readonly [number, FailureCause] | undefined {
    return [...(this.#causes ?? [])].sort(([a], [b]) => a - b)[0];
  }

  /** The ranks that will be restarted. */
  get waiting(): number[] {
    return [...(this.#pendingRestarts?.keys() ?? [])];
  }

  /** Returns whether a rank will be restarted. */
  isWaiting(rank: number): boolean {
    return this.#pendingRestarts?.has(rank) === true;
  }

  /** Returns whether a rank waits for a process that replaces the one in which it has lived. */
  isAwaitingReplacement(rank: number): boolean {
    return this.isWaiting(rank) && this.#pendingRestarts?.get(rank) === undefined;
  }

  /** Returns whether a rank has failed and will not be restarted. */
  isLost(rank: number): boolean {
    return this.has(rank) && !this.isWaiting(rank);
  }

  /** Records the failure of a rank. A pending restart of the rank is given up. */
  add(rank: number, cause: FailureCause): void {
    this.#endWait(rank);
    this.#causes ??= new Map();
    this.#causes.set(rank, cause);
  }

  /** Records that a failed rank will be restarted. @param timer undefined if it waits for another process */
  awaitRestart(rank: number, timer: Timer | undefined): void {
    this.#pendingRestarts ??= new Map();
    this.#pendingRestarts.set(rank, timer);
  }

  /** Gives up all restarts. The ranks stay failed. */
  cancelRestarts(): void {
    for (const rank of this.waiting) this.#endWait(rank);
  }

  /** Forgets the failure of a rank, which has left the mesh or has a new actor. */
  remove(rank: number): void {
    this.#endWait(rank);
    this.#causes?.delete(rank);
  }

  /** Returns the number of the next incarnation of the actor at a rank. */
  nextIncarnation(rank: number): number {
    this.#incarnations ??= new Map();
    const next = this.incarnationOf(rank) + 1;
    this.#incarnations.set(rank, next);
    return next;
  }

  /** Returns how many times the actor at a rank has been replaced. */
  incarnationOf(rank: number): number {
    return this.#incarnations?.get(rank) ?? 0;
  }

  /** Records that the last incarnation of a rank lives. */
  markRevived(rank: number): void {
    this.#liveIncarnations ??= new Map();
    this.#liveIncarnations.set(rank, this.incarnationOf(rank));
    this.remove(rank);
  }

  /** Returns why a rank has failed, or undefined if it has not. */
  causeOf(rank: number): FailureCause | undefined {
    return this.#causes?.get(rank);
  }

  /** Sets what another process knew of a rank that it has owned before. */
  restore(rank: number, incarnation: number, cause: FailureCause | undefined): void {
    if (incarnation > 0) {
      this.#incarnations ??= new Map();
      this.#incarnations.set(rank, incarnation);
      this.markRevived(rank);
    }
    if (cause !== undefined) this.add(rank, cause);
  }

  /** Returns whether an actor was replaced, and the replacement has lived. */
  isReplaced(rank: number): boolean {
    return this.#liveIncarnations?.has(rank) === true;
  }

  /** Returns whether what is known of an incarnation is out of date, because a later one lives. */
  isOutdated(rank: number, incarnation: number): boolean {
    return incarnation < (this.#liveIncarnations?.get(rank) ?? 0);
  }

  #endWait(rank: number): void {
    this.#pendingRestarts?.get(rank)?.cancel();
    this.#pendingRestarts?.delete(rank);
  }
}
