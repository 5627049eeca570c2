/**
 * A tree as its root sees it: which procs and ranks are in it, whether it can be used, what is on its way, and what is
 * left to do when a proc of it is lost. What may be sent, and when, is its caster's concern.
 */
import type { ProcId } from "../../link/address.js";
import type { DeliveryError } from "../../link/errors.js";
import type { PeerSchema } from "../../link/frame/binding.js";
import { Writer } from "../../wire/writer.js";
import type { CastOrigin } from "../receiver/ordered-arrivals.js";
import type { AnswerGroup } from "../tree/answers.js";
import { FlushMode } from "../tree/branch.js";
import { CastFlag, type CastFrame, CastOrdering, type OrderPosition, writeCast } from "../tree/cast-frame.js";
import { appendRun, type RankRun, ranksOf } from "../tree/rank-runs.js";
import type { SchemaGroup } from "../tree/schema-group.js";
import { TreeNode } from "../tree/tree-node.js";
import type { NodeParent } from "../tree/tree-node-types.js";
import type { PlannedProc, TreeSetup } from "../tree/tree-setup.js";
import type { PendingCast } from "./pending-cast.js";
import type { SenderRouter } from "./sender-router.js";

/** What is cast to. */
export interface TreePlan {
  readonly sender: CastOrigin;
  readonly setup: Pick<TreeSetup, "mesh" | "owner" | "interface" | "extent" | "size">;
  /** All procs, in the order of their first ranks; the root's own may be one of them. */
  readonly procs: readonly PlannedProc[];
}

/** Who plants trees. */
export interface TreeOwner {
  /** A tree can be used. */
  ready(): void;
  /** A cast needs no memory any more: it has been taken by all, or nobody is left. */
  taken(cast: PendingCast): void;
  answers(cast: PendingCast, groups: readonly AnswerGroup[]): void;
  /** A rank will not answer. */
  failed(cast: PendingCast, rank: number, error: DeliveryError): void;
  bounced(label: string, error: DeliveryError): void;
  /** @returns why a rank that knows the interface by another schema cannot be cast to; undefined: it can */
  compare(rank: number, other: PeerSchema): DeliveryError | undefined;
  /** A rank is left out from now on. */
  excluded(rank: number): void;
}

export class CastTree implements NodeParent {
  readonly plan: TreePlan;
  /** Whether casts can be sent: all ranks have said by which schema they know the interface. */
  isUsable = false;
  /** Whether messages have to be in the layout that others than ours can read. */
  needsProtobuf = false;
  /** Ranks that cannot be cast to, and why. */
  readonly excluded = new Map<number, DeliveryError>();
  /** Casts that have been sent and are not over, by number, in order. */
  readonly pending = new Map<number, PendingCast>();
  readonly #router: SenderRouter;
  readonly #owner: TreeOwner;
  readonly #lineage: number;
  /** Procs that others could not reach any more. */
  readonly #unreachableFromOthers = new Set<ProcId>();
  /** The same, since the tree was set up last. */
  readonly #lostProcs = new Map<ProcId, DeliveryError>();
  /** Where actors live, by rank in the mesh; filled when it is first asked for. */
  readonly #procByRank = new Map<number, ProcId>();
  /** Up to which cast an actor need not wait for direct messages, by rank in the mesh. */
  readonly #releasedUpTo = new Map<number, number>();
  /** Sent since it was set up, in order, from the first one on that not all have taken. */
  #sent: PendingCast[] = [];
  #takenCount = 0;
  /** The last cast of which was asked whether it has been taken. */
  #lastUrged: PendingCast | undefined;
  #finishedCasts: RankRun[] = [];
  #number: number;
  #root: TreeNode;
  #isRebuildPlanned = false;
  #isDropped = false;

  constructor(router: SenderRouter, owner: TreeOwner, plan: TreePlan) {
    this.#router = router;
    this.#owner = owner;
    this.plan = plan;
    this.#number = router.nextTreeNumber();
    this.#lineage = this.#number;
    this.#root = this.#createRoot();
  }

  /** Sets it up. */
  start(): void {
    this.#root.start();
  }

  /** Ranks in what is cast to, those excluded included. */
  get size(): number {
    return this.plan.setup.size;
  }

  /** Whether none of its ranks can be cast to. */
  get isDead(): boolean {
    return this.excluded.size === this.size;
  }

  /** Where it finds an actor, by rank in the mesh. */
  procOf(base: number): ProcId | undefined {
    if (this.#procByRank.size === 0) {
      for (const { proc, ranks } of this.plan.procs)
        for (const rank of ranks) this.#procByRank.set(rank.meshRank, proc);
    }
    return this.#procByRank.get(base);
  }

  sendCast(cast: PendingCast): void {
    this.pending.set(cast.seq, cast);
    this.#transmit(cast);
    for (const [rank, error] of [...this.excluded]) {
      if (cast.isCall) this.#owner.failed(cast, rank, error);
      else if (!cast.isEmpty) this.#owner.bounced(this.#labelOf(cast, error), error);
    }
  }

  /** Nobody waits for the answers any more. */
  cancel(cast: PendingCast, reason: number): void {
    this.#root.cancel(cast.seq, reason);
    // Until all have taken it, it keeps its place.
    cast.makeEmpty();
    if (cast.isTaken) this.pending.delete(cast.seq);
  }

  /** All answers have come: so all have taken it. */
  castAnswered(cast: PendingCast): void {
    this.pending.delete(cast.seq);
    this.#noteTaken(cast);
    cast.releaseRequest();
    appendRun(this.#finishedCasts, { start: cast.seq, count: 1 });
  }

  /** Direct messages to a rank of the mesh will not come. */
  release(base: number, index: number): void {
    this.#releasedUpTo.set(base, index);
    this.#root.release(base, index);
  }

  /** What has been taken is to be told at once. */
  flush(): void {
    this.#root.flush();
  }

  /** Whether casts are not known to be taken. */
  get hasUntaken(): boolean {
    return this.#sent.length > 0;
  }

  /** As `flush`, once for what has been sent so far. */
  requestTaken(): void {
    const last = this.#sent.at(-1);
    if (last === this.#lastUrged) return;
    this.#lastUrged = last;
    this.flush();
  }

  /** Gives it up. @param sender whether its sender has come to its end, too */
  drop(sender: boolean): void {
    this.#isDropped = true;
    this.#router.removeRootNode(this.#root, sender ? FlushMode.end : FlushMode.drop);
  }

  ready(others: readonly SchemaGroup[]): void {
    for (const { schema, ranks } of others) {
      for (const rank of ranksOf(ranks)) {
        const why = this.#owner.compare(rank, schema);
        if (why === undefined) this.needsProtobuf = true;
        else this.#exclude(rank, why);
      }
    }
    this.isUsable = true;
    this.#owner.ready();
  }

  answers(seq: number, groups: readonly AnswerGroup[]): void {
    const cast = this.pending.get(seq);
    if (cast !== undefined) this.#owner.answers(cast, groups);
  }

  taken(casts: number): void {
    while (this.#takenCount !== casts && this.#sent.length > 0) {
      const cast = this.#sent.shift()!;
      this.#takenCount = (this.#takenCount + 1) >>> 0;
      if (!cast.isCall) this.pending.delete(cast.seq);
      this.#noteTaken(cast);
    }
  }

  bounced(label: string, error: DeliveryError): void {
    this.#owner.bounced(label, error);
  }

  /** Not at once: what ended one link may end others. */
  lost(proc: ProcId, why: DeliveryError): void {
    this.#lostProcs.set(proc, why);
    if (this.#isRebuildPlanned) return;
    this.#isRebuildPlanned = true;
    queueMicrotask(() => {
      this.#isRebuildPlanned = false;
      // One that has been given up says nothing of actors, which may live elsewhere by now.
      if (!this.#isDropped) this.#rebuild();
    });
  }

  /** Around what was lost: a proc that others cannot reach any more is tried from here, by itself. */
  #rebuild(): void {
    const { isUsable } = this;
    // What ends meanwhile makes room for others: those come when there is a tree to send them down.
    this.isUsable = false;
    for (const [proc, why] of this.#lostProcs) {
      // It was tried from here, too.
      if (this.#unreachableFromOthers.has(proc)) this.#excludeProc(proc, this.#router.routes.deathOf(proc) ?? why);
      this.#unreachableFromOthers.add(proc);
    }
    this.#lostProcs.clear();
    this.#router.removeRootNode(this.#root, undefined);
    this.#number = this.#router.nextTreeNumber();
    const again = [...this.pending.values()];
    // What was folded cannot be told from what comes again: all of it comes again.
    for (const cast of again) {
      if (cast.request.reduction === "" || !cast.reset()) continue;
      for (const [rank, why] of [...this.excluded]) this.#owner.failed(cast, rank, why);
    }
    this.#sent = [];
    this.#takenCount = 0;
    this.#finishedCasts = [];
    this.#root = this.#createRoot();
    this.#root.start();
    for (const [base, index] of this.#releasedUpTo) this.#root.release(base, index);
    if (!isUsable) return;
    for (const cast of again) if (this.pending.has(cast.seq)) this.#transmit(cast);
    // Whoever has asked what was taken waits for an answer that went with the tree before.
    if (again.length > 0) this.flush();
    this.isUsable = true;
    this.#owner.ready();
  }

  #createRoot(): TreeNode {
    const { sender, setup, procs } = this.plan;
    const { routes, id, limits } = this.#router;
    for (const { proc } of procs) {
      const down = routes.deathOf(proc);
      if (down !== undefined) this.#excludeProc(proc, down);
    }
    const alive = procs.filter(({ ranks }) =>
      ranks.some(({ viewRank }) => !this.excluded.has(viewRank) || this.#isRefused(viewRank)),
    );
    const own = procs.find(({ proc }) => proc === id) ?? { proc: id, location: "", ranks: [] };
    const others = alive.filter(({ proc }) => proc !== id);
    const whole: TreeSetup = {
      ...setup,
      sender,
      root: id,
      location: this.#router.location,
      tree: this.#number,
      lineage: this.#lineage,
      unfinished: [...this.pending.values()].filter(({ isCall }) => isCall).map(({ seq }) => seq),
      window: { casts: limits.creditMessages, bytes: limits.creditBytes },
      procs: [own, ...others.filter(({ proc }) => !this.#unreachableFromOthers.has(proc))],
    };
    const apart = others.filter(({ proc }) => this.#unreachableFromOthers.has(proc));
    return this.#router.addRootNode((end) => new TreeNode(this.#router, end, whole, this, apart), sender, setup.mesh);
  }

  #transmit(cast: PendingCast): void {
    const recalled = cast.isTaken;
    const w = new Writer(256);
    const positions = this.excluded.size === 0 ? cast.positions : this.#withoutExcluded(cast.positions);
    const { extension, endpoint, reduction } = cast.request;
    // Of what all have taken, and of what nobody waits for, the body has been dropped.
    const { bytes, blocks } = cast.body;
    writeCast(w, { extension, finished: this.#finishedCasts, reduction, positions }, bytes);
    this.#finishedCasts = [];
    const frame: CastFrame = {
      seq: cast.seq,
      endpoint,
      flags: cast.flags | (recalled ? CastFlag.recall : 0),
      body: w.copy(0),
      blocks,
    };
    this.#sent.push(cast);
    this.#root.cast(frame);
  }

  /** The same places, without ranks that are excluded. */
  #withoutExcluded(places: readonly OrderPosition[]): OrderPosition[] {
    const found: OrderPosition[] = [];
    let rank = 0;
    for (const { count, index, ordering } of places) {
      for (let i = 0; i < count; i++, rank++) {
        const own = this.excluded.has(rank) ? CastOrdering.none : ordering;
        const last = found.at(-1);
        if (last !== undefined && last.index === index && last.ordering === own) {
          found[found.length - 1] = { ...last, count: last.count + 1 };
        } else found.push({ count: 1, index, ordering: own });
      }
    }
    return found;
  }

  #noteTaken(cast: PendingCast): void {
    if (cast.isTaken) return;
    cast.isTaken = true;
    this.#owner.taken(cast);
    cast.dropBody();
  }

  /** As it is named where the message is lost: by the interface, if its actor cannot read it. */
  #labelOf({ request: { label, endpoint } }: PendingCast, { reason }: DeliveryError): string {
    const { name, endpoints } = this.plan.setup.interface;
    return reason === "refused" ? `${name}.${endpoints[endpoint]!.name}` : label;
  }

  #excludeProc(proc: ProcId, why: DeliveryError): void {
    for (const { viewRank } of this.plan.procs.find((planned) => planned.proc === proc)?.ranks ?? []) {
      this.#exclude(viewRank, why);
    }
  }

  #exclude(rank: number, why: DeliveryError): void {
    if (this.excluded.has(rank)) return;
    this.excluded.set(rank, why);
    this.#owner.excluded(rank);
    for (const cast of [...this.pending.values()]) if (cast.waitsFor(rank)) this.#owner.failed(cast, rank, why);
  }

  /** Its actor lives, and has a schema that cannot be read. */
  #isRefused(rank: number): boolean {
    return this.excluded.get(rank)?.reason === "refused";
  }
}
