/**
 * A broadcast tree, as its root sees it: the procs and ranks of the tree, its readiness, its pending casts, and the
 * repair after a proc was lost. The cast sender decides which casts are sent, and when.
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

/** The receivers of a tree. */
export interface TreePlan {
  readonly sender: CastOrigin;
  readonly setup: Pick<TreeSetup, "mesh" | "owner" | "interface" | "extent" | "size">;
  /** All procs, in the order of their first ranks. The proc of the root may be one of them. */
  readonly procs: readonly PlannedProc[];
  /** The ranks that have left the mesh, and are on none of the procs, with the errors of messages to them. */
  readonly absent: ReadonlyMap<number, DeliveryError>;
}

/** The user of a tree. */
export interface TreeOwner {
  /** The tree is ready for casts. */
  ready(): void;
  /** All actors have received a cast, or have ended, and the cast needs no memory any more. */
  taken(cast: PendingCast): void;
  answers(cast: PendingCast, groups: readonly AnswerGroup[]): void;
  /** A rank will not answer a cast. */
  failed(cast: PendingCast, rank: number, error: DeliveryError): void;
  bounced(label: string, error: DeliveryError): void;
  /**
   * Compares the schema of a rank with the sender's.
   * @returns undefined if casts to the rank are possible, otherwise the error that says why not
   */
  compare(rank: number, other: PeerSchema): DeliveryError | undefined;
  /** A rank is excluded from the tree from now on. */
  excluded(rank: number): void;
}

export class CastTree implements NodeParent {
  readonly plan: TreePlan;
  /** Whether casts can be sent, because all ranks have reported their schemas. */
  isUsable = false;
  /** Whether messages must be in the protobuf layout. */
  needsProtobuf = false;
  /** The ranks to which casts are impossible, with the reasons. */
  readonly excluded: Map<number, DeliveryError>;
  /** The casts that were sent and are not finished, by number, in order. */
  readonly pending = new Map<number, PendingCast>();
  readonly #router: SenderRouter;
  readonly #owner: TreeOwner;
  readonly #lineage: number;
  /** The procs that another proc of the tree could not reach. */
  readonly #unreachableFromOthers = new Set<ProcId>();
  /** The procs that were lost since the tree was last set up. */
  readonly #lostProcs = new Map<ProcId, DeliveryError>();
  /** The procs of the actors, by rank in the mesh, computed on first use. */
  readonly #procByRank = new Map<number, ProcId>();
  /** For each actor, by rank in the mesh, the number of the cast up to which casts need not wait for direct messages. */
  readonly #releasedUpTo = new Map<number, number>();
  /** The casts since the tree was set up, in order, beginning with the first that not all actors have received. */
  #sent: PendingCast[] = [];
  #takenCount = 0;
  /** The last cast for which `requestTaken` has asked. */
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
    this.excluded = new Map(plan.absent);
    this.#number = router.nextTreeNumber();
    this.#lineage = this.#number;
    this.#root = this.#createRoot();
  }

  /** Sets up the tree. */
  start(): void {
    this.#root.start();
  }

  /** The number of ranks of the view, including excluded ones. */
  get size(): number {
    return this.plan.setup.size;
  }

  /** Whether casts to all ranks are impossible. */
  get isDead(): boolean {
    return this.excluded.size === this.size;
  }

  /** Returns the proc of an actor, by the actor's rank in the mesh. */
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

  /**
   * Cancels a cast whose caller no longer waits.
   * @param reason one of `CancelReason`
   */
  cancel(cast: PendingCast, reason: number): void {
    this.#root.cancel(cast.seq, reason);
    // The cast keeps its place until all actors have received it.
    cast.makeEmpty();
    if (cast.isTaken) this.pending.delete(cast.seq);
  }

  /** All answers to a cast have come, so all actors have received it. */
  castAnswered(cast: PendingCast): void {
    this.pending.delete(cast.seq);
    this.#noteTaken(cast);
    cast.releaseRequest();
    appendRun(this.#finishedCasts, { start: cast.seq, count: 1 });
  }

  /** No more direct messages to a rank of the mesh will come. */
  release(base: number, index: number): void {
    this.#releasedUpTo.set(base, index);
    this.#root.release(base, index);
  }

  /** Asks the tree to report received casts at once. */
  flush(): void {
    this.#root.flush();
  }

  /** Whether there are casts that not all actors are known to have received. */
  get hasUntaken(): boolean {
    return this.#sent.length > 0;
  }

  /** Asks the tree to report received casts at once, unless it was asked since the last cast. */
  requestTaken(): void {
    const last = this.#sent.at(-1);
    if (last === this.#lastUrged) return;
    this.#lastUrged = last;
    this.flush();
  }

  /**
   * Drops the tree.
   * @param sender whether the sender has ended as well
   */
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

  /** The tree is rebuilt later, because the cause that has ended one link may end others. */
  lost(proc: ProcId, why: DeliveryError): void {
    this.#lostProcs.set(proc, why);
    if (this.#isRebuildPlanned) return;
    this.#isRebuildPlanned = true;
    queueMicrotask(() => {
      this.#isRebuildPlanned = false;
      // A dropped tree does not report lost actors, which may be on another proc by now.
      if (!this.#isDropped) this.#rebuild();
    });
  }

  /**
   * Sets up the tree again without the lost procs. A proc that another proc could not reach is tried once more from the
   * root, as a branch of its own.
   */
  #rebuild(): void {
    const { isUsable } = this;
    // Casts that fail meanwhile give their credit to queued casts, which are sent after the tree exists.
    this.isUsable = false;
    for (const [proc, why] of this.#lostProcs) {
      // The root has tried to reach the proc as well.
      if (this.#unreachableFromOthers.has(proc)) this.#excludeProc(proc, this.#router.routes.deathOf(proc) ?? why);
      this.#unreachableFromOthers.add(proc);
    }
    this.#lostProcs.clear();
    this.#router.removeRootNode(this.#root, undefined);
    this.#number = this.#router.nextTreeNumber();
    const again = [...this.pending.values()];
    // Combined answers cannot be told apart from repeated ones, so all answers are sent again.
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
    // The question of `requestTaken` was lost with the previous tree and is asked again.
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
    // The body was dropped if all actors have received the cast, or if nobody waits for the answers.
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

  /** Returns the positions, with excluded ranks marked as `CastOrdering.none`. */
  #withoutExcluded(positions: readonly OrderPosition[]): OrderPosition[] {
    const found: OrderPosition[] = [];
    let rank = 0;
    for (const { count, index, ordering } of positions) {
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

  /** Returns the name of a lost message, for errors: the name of the interface if the actor cannot read it. */
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

  /** Returns whether a rank is excluded because of its schema. */
  #isRefused(rank: number): boolean {
    return this.excluded.get(rank)?.reason === "refused";
  }
}
