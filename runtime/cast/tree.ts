/**
 * A tree as its root sees it: which procs and ranks are in it, whether it can be used, what is on its way, and what is
 * left to do when a proc of it is lost. What may be sent, and when, is its caster's concern.
 */
import type { ProcId } from "../link/address.js";
import type { OtherSchema } from "../link/binding.js";
import type { DeliveryError } from "../link/errors.js";
import { Writer } from "../wire/writer.js";
import type { AnswerGroup } from "./answers.js";
import type { CastSender } from "./arrivals.js";
import { Flush } from "./branch.js";
import { CastFlag, type CastFrame, type Place, Way, writeCast } from "./cast-frame.js";
import type { Casts } from "./casts.js";
import { type SchemaGroup, TreeNode, type TreeTop } from "./node.js";
import type { PendingCast } from "./pending-cast.js";
import { append, type RankRun, ranksOf } from "./runs.js";
import type { PlannedProc, Setup } from "./setup.js";

/** What is cast to. */
export interface TreePlan {
  readonly sender: CastSender;
  readonly setup: Pick<Setup, "mesh" | "owner" | "interface" | "extent" | "size">;
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
  compare(rank: number, other: OtherSchema): DeliveryError | undefined;
  /** A rank is left out from now on. */
  excluded(rank: number): void;
}

export class Tree implements TreeTop {
  readonly plan: TreePlan;
  /** Whether casts can be sent: all ranks have said by which schema they know the interface. */
  usable = false;
  /** Whether messages have to be in the layout that others than ours can read. */
  protobuf = false;
  /** Ranks that cannot be cast to, and why. */
  readonly excluded = new Map<number, DeliveryError>();
  /** Casts that have been sent and are not over, by number, in order. */
  readonly pending = new Map<number, PendingCast>();
  readonly #casts: Casts;
  readonly #owner: TreeOwner;
  readonly #line: number;
  /** Procs that others could not reach any more. */
  readonly #apart = new Set<ProcId>();
  /** The same, since the tree was set up last. */
  readonly #lost = new Map<ProcId, DeliveryError>();
  /** Where actors live, by rank in the mesh; filled when it is first asked for. */
  readonly #procs = new Map<number, ProcId>();
  /** Up to which cast an actor need not wait for direct messages, by rank in the mesh. */
  readonly #released = new Map<number, number>();
  /** Sent since it was set up, in order, from the first one on that not all have taken. */
  #sent: PendingCast[] = [];
  #taken = 0;
  /** The last cast of which was asked whether it has been taken. */
  #urged: PendingCast | undefined;
  #finished: RankRun[] = [];
  #number: number;
  #node: TreeNode;
  #rebuilding = false;
  #dropped = false;

  constructor(casts: Casts, owner: TreeOwner, plan: TreePlan) {
    this.#casts = casts;
    this.#owner = owner;
    this.plan = plan;
    this.#number = casts.nextTree();
    this.#line = this.#number;
    this.#node = this.#plant();
  }

  /** Sets it up. */
  start(): void {
    this.#node.start();
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
    if (this.#procs.size === 0) {
      for (const { proc, ranks } of this.plan.procs) for (const rank of ranks) this.#procs.set(rank.base, proc);
    }
    return this.#procs.get(base);
  }

  send(cast: PendingCast): void {
    this.pending.set(cast.seq, cast);
    this.#transmit(cast);
    for (const [rank, error] of [...this.excluded]) {
      if (cast.isCall) this.#owner.failed(cast, rank, error);
      else if (!cast.isEmpty) this.#owner.bounced(this.#labelOf(cast, error), error);
    }
  }

  /** Nobody waits for the answers any more. */
  cancel(cast: PendingCast, reason: number): void {
    this.#node.cancel(cast.seq, reason);
    // Until all have taken it, it keeps its place.
    cast.empty();
    if (cast.taken) this.pending.delete(cast.seq);
  }

  /** All answers have come: so all have taken it. */
  finished(cast: PendingCast): void {
    this.pending.delete(cast.seq);
    this.#noteTaken(cast);
    cast.finish();
    append(this.#finished, { start: cast.seq, count: 1 });
  }

  /** Direct messages to a rank of the mesh will not come. */
  release(base: number, index: number): void {
    this.#released.set(base, index);
    this.#node.release(base, index);
  }

  /** What has been taken is to be told at once. */
  flush(): void {
    this.#node.flush();
  }

  /** Whether casts are not known to be taken. */
  get owing(): boolean {
    return this.#sent.length > 0;
  }

  /** As `flush`, once for what has been sent so far. */
  urge(): void {
    const last = this.#sent.at(-1);
    if (last === this.#urged) return;
    this.#urged = last;
    this.flush();
  }

  /** Gives it up. @param sender whether its sender has come to its end, too */
  drop(sender: boolean): void {
    this.#dropped = true;
    this.#casts.uproot(this.#node, sender ? Flush.end : Flush.drop);
  }

  ready(others: readonly SchemaGroup[]): void {
    for (const { schema, ranks } of others) {
      for (const rank of ranksOf(ranks)) {
        const why = this.#owner.compare(rank, schema);
        if (why === undefined) this.protobuf = true;
        else this.#exclude(rank, why);
      }
    }
    this.usable = true;
    this.#owner.ready();
  }

  answers(seq: number, groups: readonly AnswerGroup[]): void {
    const cast = this.pending.get(seq);
    if (cast !== undefined) this.#owner.answers(cast, groups);
  }

  taken(casts: number): void {
    while (this.#taken !== casts && this.#sent.length > 0) {
      const cast = this.#sent.shift()!;
      this.#taken = (this.#taken + 1) >>> 0;
      if (!cast.isCall) this.pending.delete(cast.seq);
      this.#noteTaken(cast);
    }
  }

  bounced(label: string, error: DeliveryError): void {
    this.#owner.bounced(label, error);
  }

  /** Not at once: what ended one link may end others. */
  lost(proc: ProcId, why: DeliveryError): void {
    this.#lost.set(proc, why);
    if (this.#rebuilding) return;
    this.#rebuilding = true;
    queueMicrotask(() => {
      this.#rebuilding = false;
      // One that has been given up says nothing of actors, which may live elsewhere by now.
      if (!this.#dropped) this.#rebuild();
    });
  }

  /** Around what was lost: a proc that others cannot reach any more is tried from here, by itself. */
  #rebuild(): void {
    const { usable } = this;
    // What ends meanwhile makes room for others: those come when there is a tree to send them down.
    this.usable = false;
    for (const [proc, why] of this.#lost) {
      // It was tried from here, too.
      if (this.#apart.has(proc)) this.#excludeProc(proc, this.#casts.routes.down(proc) ?? why);
      this.#apart.add(proc);
    }
    this.#lost.clear();
    this.#casts.uproot(this.#node, undefined);
    this.#number = this.#casts.nextTree();
    const again = [...this.pending.values()];
    // What was folded cannot be told from what comes again: all of it comes again.
    for (const cast of again) {
      if (cast.request.reduction === "" || !cast.reset()) continue;
      for (const [rank, why] of [...this.excluded]) this.#owner.failed(cast, rank, why);
    }
    this.#sent = [];
    this.#taken = 0;
    this.#finished = [];
    this.#node = this.#plant();
    this.#node.start();
    for (const [base, index] of this.#released) this.#node.release(base, index);
    if (!usable) return;
    for (const cast of again) if (this.pending.has(cast.seq)) this.#transmit(cast);
    // Whoever has asked what was taken waits for an answer that went with the tree before.
    if (again.length > 0) this.flush();
    this.usable = true;
    this.#owner.ready();
  }

  #plant(): TreeNode {
    const { sender, setup, procs } = this.plan;
    const { routes, id, limits } = this.#casts;
    for (const { proc } of procs) {
      const down = routes.down(proc);
      if (down !== undefined) this.#excludeProc(proc, down);
    }
    const alive = procs.filter(({ ranks }) =>
      ranks.some(({ view }) => !this.excluded.has(view) || this.#refuses(view)),
    );
    const own = procs.find(({ proc }) => proc === id) ?? { proc: id, location: "", ranks: [] };
    const others = alive.filter(({ proc }) => proc !== id);
    const whole: Setup = {
      ...setup,
      sender,
      root: id,
      location: this.#casts.location,
      tree: this.#number,
      line: this.#line,
      unfinished: [...this.pending.values()].filter(({ isCall }) => isCall).map(({ seq }) => seq),
      window: { casts: limits.creditMessages, bytes: limits.creditBytes },
      procs: [own, ...others.filter(({ proc }) => !this.#apart.has(proc))],
    };
    const apart = others.filter(({ proc }) => this.#apart.has(proc));
    return this.#casts.plant((end) => new TreeNode(this.#casts, end, whole, this, apart), sender, setup.mesh);
  }

  #transmit(cast: PendingCast): void {
    const recalled = cast.taken;
    const w = new Writer(256);
    const places = this.excluded.size === 0 ? cast.places : this.#without(cast.places);
    const { extension, endpoint, reduction } = cast.request;
    // Of what all have taken, and of what nobody waits for, the body has been dropped.
    const { bytes, blocks } = cast.body;
    writeCast(w, { extension, finished: this.#finished, reduction, places }, bytes);
    this.#finished = [];
    const frame: CastFrame = {
      seq: cast.seq,
      endpoint,
      flags: cast.flags | (recalled ? CastFlag.recall : 0),
      body: w.copy(0),
      blocks,
    };
    this.#sent.push(cast);
    this.#node.cast(frame);
  }

  /** The same places, without ranks that are excluded. */
  #without(places: readonly Place[]): Place[] {
    const found: Place[] = [];
    let rank = 0;
    for (const { count, index, way } of places) {
      for (let i = 0; i < count; i++, rank++) {
        const own = this.excluded.has(rank) ? Way.none : way;
        const last = found.at(-1);
        if (last !== undefined && last.index === index && last.way === own) {
          found[found.length - 1] = { ...last, count: last.count + 1 };
        } else found.push({ count: 1, index, way: own });
      }
    }
    return found;
  }

  #noteTaken(cast: PendingCast): void {
    if (cast.taken) return;
    cast.taken = true;
    this.#owner.taken(cast);
    cast.drop();
  }

  /** As it is named where the message is lost: by the interface, if its actor cannot read it. */
  #labelOf({ request: { label, endpoint } }: PendingCast, { reason }: DeliveryError): string {
    const { name, endpoints } = this.plan.setup.interface;
    return reason === "refused" ? `${name}.${endpoints[endpoint]!.name}` : label;
  }

  #excludeProc(proc: ProcId, why: DeliveryError): void {
    for (const { view } of this.plan.procs.find((planned) => planned.proc === proc)?.ranks ?? []) {
      this.#exclude(view, why);
    }
  }

  #exclude(rank: number, why: DeliveryError): void {
    if (this.excluded.has(rank)) return;
    this.excluded.set(rank, why);
    this.#owner.excluded(rank);
    for (const cast of [...this.pending.values()]) if (cast.waitsFor(rank)) this.#owner.failed(cast, rank, why);
  }

  /** Its actor lives, and has a schema that cannot be read. */
  #refuses(rank: number): boolean {
    return this.excluded.get(rank)?.reason === "refused";
  }
}
