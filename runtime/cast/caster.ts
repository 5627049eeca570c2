/**
 * A sender that casts to a mesh, at the root of its trees: keeps the order of its casts among each other and with its
 * direct messages, and the credit. Trees are set up on first use, one for each slice that is cast to.
 */
import type { ProcId } from "../link/address.js";
import { BackpressureError, DeliveryError } from "../link/errors.js";
import type { Session } from "../link/session.js";
import { type Place, Way } from "./cast-frame.js";
import type { CasterHost, CastMesh, CastView } from "./cast-mesh.js";
import { CasterTree, type TreeCaster } from "./caster-tree.js";
import { LaneOrder, type OrderedCasts } from "./lane-order.js";
import { type CastRequest, PendingCast } from "./pending-cast.js";

interface Queued {
  readonly cast: PendingCast;
  readonly tree: CasterTree;
}

/** Trees that are kept although nothing is under way in them. */
const KEPT_TREES = 32;
/** Index in the reasons to cancel. */
const CALLER_GONE = 0;

export class Caster implements OrderedCasts, TreeCaster {
  readonly mesh: CastMesh;
  readonly host: CasterHost;
  /** Casts to each actor of the mesh, since it lives where it does. */
  readonly counts: Uint32Array;
  /** Sessions with messages that the receiver must have before the next cast. */
  readonly dirty = new Map<number, LaneOrder>();
  /** Actors that cannot be cast to: their direct messages do not wait for casts. */
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
  /** The mesh has been stopped. */
  #stopped = false;
  #whenTaken: (() => void)[] = [];
  #whenAnswered: (() => void)[] = [];
  #whenLeft: (() => void)[] = [];

  constructor(host: CasterHost, mesh: CastMesh) {
    this.host = host;
    this.mesh = mesh;
    this.counts = new Uint32Array(mesh.size);
    this.#moves = mesh.moves;
    for (let base = 0; base < mesh.size; base++) this.#procs.push(mesh.procAt(base));
  }

  /** A session of the same sender to an actor of the mesh. @param used whether something may have been sent by it */
  attach(session: Session, base: number, used: boolean): void {
    this.followMoves();
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
    if (this.#queue.length > 0) return false;
    const tree = this.#treeOf(view);
    return tree.tree.usable && !tree.waits && this.#hasRoom();
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
      if (!tree.tree.usable || tree.waits) return;
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
      const { waiter } = cast.request;
      tree.tree.send(cast);
      waiter?.credited();
      // Where nobody is left, nothing comes that what was taken could be told with.
      if (urgent || tree.tree.isDead) tree.tree.flush();
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

  /** Resolves when, besides, all calls have been answered, or nobody waits for them any more. */
  async answered(): Promise<void> {
    await this.taken();
    if (!this.#isAnswered) await new Promise<void>((resolve) => this.#whenAnswered.push(resolve));
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

  /** All that a tree led to is no more: it is dropped, unless it is still waited for. */
  treeDied(): void {
    // What is pending in it fails first.
    queueMicrotask(() => this.#settled());
  }

  /** The mesh has been stopped, or is being: nothing will be cast to it any more. */
  meshStopped(): void {
    this.#stopped = true;
    this.#settled();
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

  /** A call has been answered by all. */
  completed(): void {
    if (this.#stopped || this.#whenAnswered.length > 0 || this.#retired.size > 0) this.#settled();
  }

  /** Something has come to its end. */
  #settled(): void {
    for (const tree of this.#retired) {
      if (tree.tree.pending.size > 0 || this.#queue.some((entry) => entry.tree === tree)) continue;
      this.#retired.delete(tree);
      tree.tree.drop(false);
    }
    if (this.#retired.size === 0) for (const resolve of this.#whenLeft.splice(0)) resolve();
    if (!this.#idle) return;
    for (const resolve of this.#whenTaken.splice(0)) resolve();
    if (this.#isAnswered) for (const resolve of this.#whenAnswered.splice(0)) resolve();
    const { sender, casts } = this.host;
    if (this.#closing || (this.#stopped && this.#isAnswered)) {
      for (const { tree } of this.#all()) tree.drop(true);
      this.#trees.clear();
      casts.senderEnded(sender, this.mesh.id);
      this.host.asleep(this, true);
      return;
    }
    for (const [key, { tree }] of this.#trees) {
      if (!tree.isDead || tree.pending.size > 0) continue;
      this.#trees.delete(key);
      tree.drop(false);
    }
    if (this.#trees.size > 0 || this.#retired.size > 0) return;
    casts.receiversEnded(sender, this.mesh.id);
    this.host.asleep(this, false);
  }

  get #isAnswered(): boolean {
    return this.#idle && this.#all().every(({ tree }) => tree.pending.size === 0);
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
    this.followMoves();
    let tree = this.#trees.get(view.key);
    if (tree === undefined) {
      this.host.awake(this);
      tree = new CasterTree(this, view);
      this.#trees.set(view.key, tree);
      for (const base of view.bases) for (const before of this.host.leaving(base)) tree.waitFor(before);
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

  leaves(base: number): void {
    if (this.counts[base]! > 0 && !this.excluded.has(base)) this.host.open(base);
  }

  async left(): Promise<void> {
    if (this.#retired.size > 0) await new Promise<void>((resolve) => this.#whenLeft.push(resolve));
  }

  /** Where actors live elsewhere by now: those know nothing of what was sent to the ones before them. */
  followMoves(): void {
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
    for (const tree of this.#trees.values()) {
      this.#retired.add(tree);
      tree.tree.flush();
    }
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
