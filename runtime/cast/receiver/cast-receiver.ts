/**
 * The data that a proc holds for a sender on another proc that casts to actors here: the ordered arrivals for each
 * actor, and the replies that the root may not have received. All trees of the sender share the data.
 */
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { Session } from "../../link/outbound/session.js";
import type { Reader } from "../../wire/reader.js";
import { copyAnswer, type RankAnswer } from "../tree/answers.js";
import type { RankRun } from "../tree/rank-runs.js";
import type { OrderedArrivals } from "./ordered-arrivals.js";

/** The part of a tree that passes an answer up. */
export interface ReplyRoute {
  /** The number of the first tree in the series of trees that have replaced one another. */
  readonly lineage: number;
  answered(seq: number, rank: number, answer: RankAnswer): void;
  /** Returns an error in the form of an answer. */
  answerOfError(error: Error): RankAnswer;
}

/**
 * The reply of one actor to one cast. It is kept until the root has received the answer, because the tree may have to
 * be set up again.
 */
export class CastReply implements PendingCall {
  id = 0;
  session: Session | undefined;
  credit = 0;
  isAbandoned = false;
  answer: RankAnswer | undefined;
  /** The part of a tree that passes the answer up. */
  route: ReplyRoute;
  readonly #seq: number;
  readonly #rank: number;

  constructor(route: ReplyRoute, seq: number, rank: number) {
    this.route = route;
    this.#seq = seq;
    this.#rank = rank;
  }

  answered(r: Reader): void {
    this.#setAnswer(copyAnswer(r));
  }

  failed(error: Error): void {
    this.#setAnswer(this.route.answerOfError(error));
  }

  item(): void {}

  ended(): void {}

  /**
   * Cancels the call, if it is pending.
   * @param reason one of `CancelReason`
   */
  abandon(reason: number): void {
    if (this.id !== 0) this.session?.abandon(this, reason);
  }

  #setAnswer(answer: RankAnswer): void {
    this.answer = answer;
    this.route.answered(this.#seq, this.#rank, answer);
  }
}

export class CastReceiver {
  /** The arrivals for each actor, by its rank in the mesh. */
  readonly arrivals = new Map<number, OrderedArrivals>();
  /** The number of the newest tree of each lineage. */
  readonly #newestTrees = new Map<number, number>();
  /** The replies, by the number of the cast and by the rank in the view. */
  readonly #replies = new Map<number, Map<number, CastReply>>();

  /**
   * Notes that a tree is set up.
   * @returns false if a newer tree of the lineage is known already, because the two have come by different ways
   */
  isNewest(lineage: number, tree: number): boolean {
    if (tree < (this.#newestTrees.get(lineage) ?? tree)) return false;
    this.#newestTrees.set(lineage, tree);
    return true;
  }

  /** Forgets a lineage whose trees are not used any more. */
  forgetLineage(lineage: number): void {
    this.#newestTrees.delete(lineage);
  }

  replyOf(seq: number, rank: number): CastReply | undefined {
    return this.#replies.get(seq)?.get(rank);
  }

  createReply(route: ReplyRoute, seq: number, rank: number): CastReply {
    const reply = new CastReply(route, seq, rank);
    let ranks = this.#replies.get(seq);
    if (ranks === undefined) {
      ranks = new Map();
      this.#replies.set(seq, ranks);
    }
    ranks.set(rank, reply);
    return reply;
  }

  /** The numbers of the casts that have replies here. */
  get pendingCasts(): number[] {
    return [...this.#replies.keys()];
  }

  /** Forgets casts whose answers the root has received. */
  forgetCasts(casts: readonly RankRun[]): void {
    for (const { start, count } of casts) {
      if (count > this.#replies.size) {
        for (const seq of this.#replies.keys()) if ((seq - start) >>> 0 < count) this.#replies.delete(seq);
      } else for (let i = 0; i < count; i++) this.#replies.delete((start + i) >>> 0);
    }
  }

  /** A tree of a lineage is set up again. Of the replies of that lineage, only those to unfinished casts are kept. */
  keepUnfinished(lineage: number, unfinished: readonly number[]): void {
    const waited = new Set(unfinished);
    for (const [seq, ranks] of this.#replies) {
      const isOfLineage = [...ranks.values()].some(({ route }) => route.lineage === lineage);
      if (isOfLineage && !waited.has(seq)) this.#replies.delete(seq);
    }
  }

  /** Cancels a cast whose caller no longer waits. */
  cancel(seq: number, reason: number): void {
    for (const arrivals of this.arrivals.values()) arrivals.cancel(seq);
    for (const reply of this.#replies.get(seq)?.values() ?? []) reply.abandon(reason);
    this.#replies.delete(seq);
  }

  /** Cancels all casts, because the sender has ended. */
  cancelAll(reason: number): void {
    for (const seq of this.pendingCasts) this.cancel(seq, reason);
  }
}
