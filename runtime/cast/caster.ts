/**
 * A sender that casts to a mesh, at the root of its trees: keeps the order of its casts among each other and with its
 * direct messages, and the credit. Trees are set up on first use, one for each slice that is cast to.
 */
import type { Location, ProcId } from "../link/address.js";
import type { BoundEndpoint, OtherSchema } from "../link/binding.js";
import { BackpressureError, DeliveryError, meansEnded } from "../link/errors.js";
import { Sync } from "../link/frame.js";
import type { KeepAlive } from "../link/keep-alive.js";
import type { CastOrder, Session } from "../link/session.js";
import type { Encoded } from "../link/waiting.js";
import type { Reader } from "../wire/reader.js";
import type { AnswerGroup } from "./answers.js";
import type { CastSender } from "./arrivals.js";
import { type Place, Way } from "./cast-frame.js";
import type { Casts } from "./casts.js";
import { type CastRequest, PendingCast } from "./pending-cast.js";
import type { CastInterface, PlannedProc } from "./setup.js";
import { Tree, type TreeOwner } from "./tree.js";

/** The mesh that is cast to. */
export interface CastMesh {
  readonly id: bigint;
  readonly owner: ProcId;
  readonly size: number;
  /** One more each time that one of its actors has moved to another proc. */
  readonly moves: number;
  target(base: number): { readonly proc: ProcId; readonly location: Location };
  /** Undefined: nobody here has heard of it. */
  procAt(base: number): ProcId | undefined;
}

/** A handle of the mesh, or of a slice of it. */
export interface CastView {
  /** The same for handles with the same ranks, extent and interface. */
  readonly key: string;
  /** Ranks in the mesh, in the order of those of the handle. */
  readonly bases: readonly number[];
  readonly interface: CastInterface;
  /** Sizes by name of a slice; undefined: the mesh as it was spawned. */
  readonly extent: Readonly<Record<string, number>> | undefined;
}

/** The actor that casts. */
export interface CasterHost {
  readonly casts: Casts;
  readonly sender: CastSender;
  readonly keepAlive: KeepAlive;
  undeliverable(label: string, error: DeliveryError): void;
  /** An actor of the mesh has ended. */
  targetEnded(base: number): void;
  /** @returns why not, if those who know an interface by another schema cannot read what is sent by it */
  compare(base: number, known: CastInterface, other: OtherSchema): DeliveryError | undefined;
  /** The message in the protobuf layout. @throws CodecError, MessageSizeError */
  translate(known: CastInterface, endpoint: BoundEndpoint, body: Encoded): Encoded;
  readError(r: Reader): Error;
}

interface Queued {
  readonly cast: PendingCast;
  readonly tree: CasterTree;
}

/** Trees that are kept although nothing is under way in them. */
const KEPT_TREES = 32;
/** Index in the reasons to cancel. */
const CALLER_GONE = 0;

export class Caster {
  readonly mesh: CastMesh;
  readonly host: CasterHost;
  /** Casts to each actor of the mesh, since it lives where it does. */
  readonly counts: Uint32Array;
  /** Sessions with messages that the receiver must have before the next cast. */
  readonly dirty = new Map<number, LaneOrder>();
  /** Actors that cannot be cast to: their direct messages wait for nothing. */
  readonly excluded = new Set<number>();
  readonly #trees = new Map<string, CasterTree>();
  /** Trees for casts from before an actor moved. */
  readonly #retired = new Set<CasterTree>();
  /** Where the actors live, as far as this is known. */
  readonly #procs: (ProcId | undefined)[] = [];
  #moves: number;
  #nextSeq = 1;
  #queue: Queued[] = [];
  #queuedBytes = 0;
  /** Sent and not taken. */
  #casts = 0;
  #bytes = 0;
  #closing = false;
  #whenTaken: (() => void)[] = [];

  constructor(host: CasterHost, mesh: CastMesh) {
    this.host = host;
    this.mesh = mesh;
    this.counts = new Uint32Array(mesh.size);
    this.#moves = mesh.moves;
    for (let base = 0; base < mesh.size; base++) this.#procs.push(mesh.procAt(base));
  }

  /** A session of the same sender to an actor of the mesh. @param used whether something may have been sent by it */
  attach(session: Session, base: number, used: boolean): void {
    this.#followMoves();
    const order = new LaneOrder(this, session, base);
    session.order = order;
    if (used) this.dirty.set(base, order);
  }

  /** @throws BackpressureError if a message of so many bytes would not find room */
  admits(size: number, label: string): void {
    const { sendWindowMessages, sendWindowBytes } = this.host.casts.limits;
    const waiting = this.#queue.length;
    if (waiting === 0 || (waiting < sendWindowMessages && this.#queuedBytes + size <= sendWindowBytes)) return;
    throw new BackpressureError(
      `cannot send ${label}: ${waiting} messages (${this.#queuedBytes} bytes) already wait for the receivers, the ` +
        `send window being ${sendWindowMessages} messages and ${sendWindowBytes} bytes; await what broadcast and send return`,
    );
  }

  /** Whether a cast to a view would be sent at once. */
  hasCredit(view: CastView): boolean {
    return this.#queue.length === 0 && this.#treeOf(view).tree.usable && this.#hasRoom();
  }

  /** Whether messages to a view are to be in the protobuf layout, as far as that is known. */
  needsProtobuf(view: CastView): boolean {
    return this.#treeOf(view).tree.protobuf;
  }

  /** Casts. `admits` has been asked. */
  cast(view: CastView, request: CastRequest): PendingCast {
    const tree = this.#treeOf(view);
    const cast = new PendingCast(this.#nextSeq, request, this.#places(view.bases), view.bases.length);
    this.#nextSeq = (this.#nextSeq + 1) >>> 0;
    this.host.keepAlive.hold();
    this.#queue.push({ cast, tree });
    this.#queuedBytes += cast.size;
    this.flush();
    return cast;
  }

  /** Nobody waits for the answers any more. @param reason an index of the reasons to cancel */
  cancel(cast: PendingCast, reason: number): void {
    if (!cast.isCall || cast.complete) return;
    const queued = this.#queue.find((entry) => entry.cast === cast);
    if (queued === undefined) {
      for (const { tree } of this.#all()) if (tree.pending.get(cast.seq) === cast) tree.cancel(cast, reason);
      this.host.keepAlive.release();
    } else {
      // Its place in the order has been given to it.
      this.#queuedBytes -= cast.size;
      cast.empty();
    }
    this.#settled();
  }

  /** Sends what may be sent. */
  flush(): void {
    const urgent = this.#closing || this.#whenTaken.length > 0;
    while (this.#queue.length > 0) {
      const { cast, tree } = this.#queue[0]!;
      if (!tree.tree.usable) return;
      if (!this.#hasRoom()) {
        this.#urge();
        return;
      }
      this.#queue.shift();
      if (!cast.isEmpty) this.#queuedBytes -= cast.size;
      this.#casts++;
      this.#bytes += cast.size;
      if (!cast.isCall) this.host.keepAlive.release();
      this.#translate(cast, tree);
      tree.tree.send(cast);
      cast.request.waiter?.credited();
      if (urgent) tree.tree.flush();
    }
  }

  /** Each tree may keep to itself for a while what has been taken: of many trees, all that there is room for. */
  #urge(): void {
    const owing = this.#all().filter(({ tree }) => tree.owing);
    if (owing.length > 1) for (const { tree } of owing) tree.urge();
  }

  /** Resolves when everything that was cast has been taken, or its receivers are no more. */
  taken(): Promise<void> {
    if (this.#idle) return Promise.resolve();
    for (const { tree } of this.#all()) tree.flush();
    return new Promise((resolve) => this.#whenTaken.push(resolve));
  }

  /** The sender has ended: nobody waits for answers. What it has sent goes its way. */
  close(): void {
    this.#closing = true;
    for (const { cast } of this.#queue) this.cancel(cast, CALLER_GONE);
    for (const { tree } of this.#all()) {
      for (const cast of [...tree.pending.values()]) this.cancel(cast, CALLER_GONE);
      tree.flush();
    }
    this.#settled();
  }

  /**
   * A session of the sender to an actor has ended: casts need not wait for what it had still to say.
   * @param proc where the actor lived; where it has moved to, casts are counted anew
   */
  sessionEnded(base: number, index: number, proc: ProcId | undefined): void {
    for (const { tree } of this.#all()) if (tree.procOf(base) === proc) tree.release(base, index);
  }

  /** A tree has news: some of its casts have been taken. */
  release(cast: PendingCast): void {
    this.#casts--;
    this.#bytes -= cast.size;
    this.flush();
    this.#settled();
  }

  /** An actor cannot be cast to any more: what is sent to it directly must not wait for casts. */
  exclude(base: number): void {
    this.excluded.add(base);
    const casts = this.counts[base]!;
    if (casts > 0) this.sessionEnded(base, casts - 1, this.#procs[base]);
  }

  /** Whether the actors still live where a tree of this caster finds them. */
  isCurrent(tree: CasterTree): boolean {
    return !this.#retired.has(tree);
  }

  /** The proc closes its links. */
  fail(error: DeliveryError): void {
    for (const { cast } of this.#queue) this.#failAll(cast, error);
    for (const { tree } of this.#all()) for (const cast of [...tree.pending.values()]) this.#failAll(cast, error);
  }

  #failAll(cast: PendingCast, error: DeliveryError): void {
    if (!cast.isCall || cast.complete) return;
    cast.failAll(error);
    this.host.keepAlive.release();
  }

  /** Something has come to its end. */
  #settled(): void {
    for (const tree of this.#retired) {
      if (tree.tree.pending.size > 0 || this.#queue.some((entry) => entry.tree === tree)) continue;
      this.#retired.delete(tree);
      tree.tree.drop(false);
    }
    if (!this.#idle) return;
    for (const resolve of this.#whenTaken.splice(0)) resolve();
    if (!this.#closing) return;
    const { sender, casts } = this.host;
    casts.casters.delete(this);
    for (const { tree } of this.#all()) tree.drop(true);
    this.#trees.clear();
    casts.senderEnded(sender, this.mesh.id);
  }

  get #idle(): boolean {
    return this.#queue.length === 0 && this.#casts === 0;
  }

  #hasRoom(): boolean {
    const { creditMessages, creditBytes } = this.host.casts.limits;
    return this.#casts < creditMessages && this.#bytes < creditBytes;
  }

  #all(): CasterTree[] {
    return [...this.#trees.values(), ...this.#retired];
  }

  #treeOf(view: CastView): CasterTree {
    this.#followMoves();
    let tree = this.#trees.get(view.key);
    if (tree === undefined) {
      tree = new CasterTree(this, view);
      this.#trees.set(view.key, tree);
      tree.tree.start();
      this.#evict();
    } else if (this.#trees.size > 1) {
      // The one that was used last stands last.
      this.#trees.delete(view.key);
      this.#trees.set(view.key, tree);
    }
    return tree;
  }

  #evict(): void {
    for (const [key, tree] of this.#trees) {
      if (this.#trees.size <= KEPT_TREES) return;
      if (tree.tree.pending.size > 0 || this.#queue.some((entry) => entry.tree === tree)) continue;
      this.#trees.delete(key);
      tree.tree.drop(false);
    }
  }

  /** Where actors live elsewhere by now: those know nothing of what was sent to the ones before them. */
  #followMoves(): void {
    if (this.mesh.moves === this.#moves) return;
    this.#moves = this.mesh.moves;
    for (let base = 0; base < this.mesh.size; base++) {
      const proc = this.mesh.procAt(base);
      if (proc === this.#procs[base]) continue;
      this.#procs[base] = proc;
      this.counts[base] = 0;
      this.dirty.delete(base);
      this.excluded.delete(base);
    }
    for (const tree of this.#trees.values()) this.#retired.add(tree);
    this.#trees.clear();
    this.#settled();
  }

  #places(bases: readonly number[]): Place[] {
    const { counts, dirty } = this;
    const places: Place[] = [];
    let count = 0;
    let index = 0;
    let way: number = Way.plain;
    for (const base of bases) {
      const before = counts[base]!;
      counts[base] = before + 1;
      const order = dirty.size === 0 ? undefined : dirty.get(base);
      const own = order === undefined ? Way.plain : Way.marked;
      order?.mark(before);
      if (count > 0 && before === index && own === way) {
        count++;
        continue;
      }
      if (count > 0) places.push({ count, index, way });
      count = 1;
      index = before;
      way = own;
    }
    if (count > 0) places.push({ count, index, way });
    return places;
  }

  /** A receiver has another schema: all can read the layout that it can. */
  #translate(cast: PendingCast, { tree, view }: CasterTree): void {
    if (!tree.protobuf || cast.isEmpty || cast.body.protobuf) return;
    const { endpoint, label } = cast.request;
    try {
      cast.body = this.host.translate(view.interface, view.interface.endpoints[endpoint]!, cast.body);
    } catch (error) {
      const why = new DeliveryError("refused", (error as Error).message, { cause: error });
      if (cast.isCall) this.#failAll(cast, why);
      else this.host.undeliverable(label, why);
      cast.empty();
    }
  }
}

/** Where the messages of one session stand among the casts to its actor. */
class LaneOrder implements CastOrder {
  readonly #caster: Caster;
  readonly #session: Session;
  readonly #base: number;
  /** Casts that the receiver knows to come before what is sent next. */
  #told = 0;
  /** The last cast that waits for what was sent before it; -1: none. */
  #marked = -1;

  constructor(caster: Caster, session: Session, base: number) {
    this.#caster = caster;
    this.#session = session;
    this.#base = base;
  }

  next(): number {
    const { counts, dirty, excluded } = this.#caster;
    const casts = counts[this.#base]!;
    dirty.set(this.#base, this);
    if (casts === this.#told || excluded.has(this.#base)) return -1;
    this.#told = casts;
    return casts;
  }

  /** A cast comes after what has been sent. */
  mark(cast: number): void {
    this.#caster.dirty.delete(this.#base);
    this.#marked = cast;
    this.#session.sync(Sync.mark, cast);
  }

  ended(): void {
    const { dirty } = this.#caster;
    if (dirty.get(this.#base) === this) dirty.delete(this.#base);
    if (this.#marked >= 0) this.#caster.sessionEnded(this.#base, this.#marked, this.#session.link.peer);
  }
}

/** One tree of a caster. */
class CasterTree implements TreeOwner {
  readonly tree: Tree;
  readonly view: CastView;
  readonly #caster: Caster;

  constructor(caster: Caster, view: CastView) {
    this.#caster = caster;
    this.view = view;
    const { mesh, host } = caster;
    const { bases, interface: known, extent } = view;
    const setup = { mesh: mesh.id, owner: mesh.owner, interface: known, extent, size: bases.length };
    this.tree = new Tree(host.casts, this, { sender: host.sender, setup, procs: procsOf(mesh, bases) });
  }

  ready(): void {
    this.#caster.flush();
  }

  taken(cast: PendingCast): void {
    this.#caster.release(cast);
  }

  answers(cast: PendingCast, groups: readonly AnswerGroup[]): void {
    const { host } = this.#caster;
    cast.answers(groups, (r) => host.readError(r));
    this.#checkComplete(cast);
  }

  failed(cast: PendingCast, rank: number, error: DeliveryError): void {
    if (meansEnded(error)) this.#caster.host.targetEnded(this.view.bases[rank]!);
    cast.failed(rank, error);
    this.#checkComplete(cast);
  }

  bounced(label: string, error: DeliveryError): void {
    this.#caster.host.undeliverable(label, error);
  }

  compare(rank: number, other: OtherSchema): DeliveryError | undefined {
    return this.#caster.host.compare(this.view.bases[rank]!, this.view.interface, other);
  }

  excluded(rank: number): void {
    if (this.#caster.isCurrent(this)) this.#caster.exclude(this.view.bases[rank]!);
  }

  #checkComplete(cast: PendingCast): void {
    if (!cast.isCall || !cast.complete) return;
    this.#caster.host.keepAlive.release();
    this.tree.finished(cast);
  }
}

/** The procs of some actors, in the order of their first ranks. */
function procsOf(mesh: CastMesh, bases: readonly number[]): PlannedProc[] {
  const procs = new Map<ProcId, { proc: ProcId; location: Location; ranks: { view: number; base: number }[] }>();
  for (const [view, base] of bases.entries()) {
    const { proc, location } = mesh.target(base);
    let known = procs.get(proc);
    if (known === undefined) {
      known = { proc, location, ranks: [] };
      procs.set(proc, known);
    }
    known.ranks.push({ view, base });
  }
  return [...procs.values()];
}
