/**
 * What a proc keeps for a sender elsewhere that casts to actors here: where its messages to each of them come together,
 * and the answers that have not come home for certain. All trees of the sender share it.
 */
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { Session } from "../../link/outbound/session.js";
import type { Reader } from "../../wire/reader.js";
import { copyAnswer, type RankAnswer } from "../tree/answers.js";
import type { RankRun } from "../tree/rank-runs.js";
import type { OrderedArrivals } from "./ordered-arrivals.js";

/** Who passes an answer on: a part of a tree. */
export interface ReplyRoute {
  /** The first of the trees in whose place it stands. */
  readonly lineage: number;
  answered(seq: number, rank: number, answer: RankAnswer): void;
  /** @returns an error as an answer */
  answerOfError(error: Error): RankAnswer;
}

/** One actor's answer to one cast, kept until the root has it: the tree may have to be set up again. */
export class CastReply implements PendingCall {
  id = 0;
  session: Session | undefined;
  credit = 0;
  isAbandoned = false;
  answer: RankAnswer | undefined;
  /** The part of a tree by which it goes home. */
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

  /** @param reason an index of the reasons to cancel */
  abandon(reason: number): void {
    if (this.id !== 0) this.session?.abandon(this, reason);
  }

  #setAnswer(answer: RankAnswer): void {
    this.answer = answer;
    this.route.answered(this.#seq, this.#rank, answer);
  }
}

export class CastReceiver {
  /** By rank in the mesh. */
  readonly arrivals = new Map<number, OrderedArrivals>();
  /** The newest tree of each line. */
  readonly #newestTrees = new Map<number, number>();
  /** By cast, then by rank in what was cast to. */
  readonly #replies = new Map<number, Map<number, CastReply>>();

  /** A tree is set up. @returns false if another one has taken its place meanwhile: they may come by different ways */
  isNewest(line: number, tree: number): boolean {
    if (tree < (this.#newestTrees.get(line) ?? tree)) return false;
    this.#newestTrees.set(line, tree);
    return true;
  }

  /** The trees of a line are not used any more. */
  forgetLineage(line: number): void {
    this.#newestTrees.delete(line);
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

  /** Casts for which something is kept. */
  get pendingCasts(): number[] {
    return [...this.#replies.keys()];
  }

  /** The answers have come home. */
  forgetCasts(casts: readonly RankRun[]): void {
    for (const { start, count } of casts) {
      if (count > this.#replies.size) {
        for (const seq of this.#replies.keys()) if ((seq - start) >>> 0 < count) this.#replies.delete(seq);
      } else for (let i = 0; i < count; i++) this.#replies.delete((start + i) >>> 0);
    }
  }

  /** A tree is set up again: of its line, only some casts are waited for. */
  keepUnfinished(line: number, unfinished: readonly number[]): void {
    const waited = new Set(unfinished);
    for (const [seq, ranks] of this.#replies) {
      const ofLine = [...ranks.values()].some(({ route }) => route.lineage === line);
      if (ofLine && !waited.has(seq)) this.#replies.delete(seq);
    }
  }

  /** Nobody waits for the answers to a cast any more. */
  cancel(seq: number, reason: number): void {
    for (const arrivals of this.arrivals.values()) arrivals.cancel(seq);
    for (const reply of this.#replies.get(seq)?.values() ?? []) reply.abandon(reason);
    this.#replies.delete(seq);
  }

  /** The sender has ended, or its process: nobody waits for answers. */
  cancelAll(reason: number): void {
    for (const seq of this.pendingCasts) this.cancel(seq, reason);
  }
}
