/**
 * A sender that casts to a mesh, at the root of its trees: keeps the order of its casts among each other and with its
 * direct messages, and the credit. Trees are set up on first use, one for each slice that is cast to.
 */
import type { ProcId } from "../../link/address.js";
import { BackpressureError, DeliveryError } from "../../link/errors.js";
import type { Session } from "../../link/outbound/session.js";
import { CastOrdering, type OrderPosition } from "../tree/cast-frame.js";
import type { CastMesh, CastSenderHost, CastView } from "./cast-view.js";
import { LaneOrder, type OrderedCasts } from "./lane-order.js";
import { type CastRequest, PendingCast } from "./pending-cast.js";
import { ViewTree, type ViewTreeOwner } from "./view-tree.js";

interface QueuedCast {
  readonly cast: PendingCast;
  readonly tree: ViewTree;
}

/** Trees that are kept although nothing is under way in them. */
const MAX_IDLE_TREES = 32;
/** Index in the reasons to cancel. */
const CALLER_GONE = 0;

export class CastSender implements OrderedCasts, ViewTreeOwner {
  readonly mesh: CastMesh;
  readonly host: CastSenderHost;
  /** Casts to each actor of the mesh, since it lives where it does. */
  readonly castCounts: Uint32Array;
  /** Sessions with messages that the receiver must have before the next cast. */
  readonly unmarkedLanes = new Map<number, LaneOrder>();
  /** Actors that cannot be cast to: their direct messages do not wait for casts. */
  readonly excluded = new Set<number>();
  readonly #trees = new Map<string, ViewTree>();
  /** Trees for casts from before an actor moved. */
  readonly #formerTrees = new Set<ViewTree>();
  /** Where the actors live, as far as this is known. */
  readonly #procs: (ProcId | undefined)[] = [];
  #moves: number;
  #nextSeq = 1;
  #queue: QueuedCast[] = [];
  #queuedBytes = 0;
  /** Sent and not taken. */
  #untakenCasts = 0;
  #untakenBytes = 0;
  #isClosing = false;
  /** The mesh has been stopped. */
  #isMeshStopped = false;
  #whenTaken: (() => void)[] = [];
  #whenAnswered: (() => void)[] = [];
  #whenFormerDone: (() => void)[] = [];

  constructor(host: CastSenderHost, mesh: CastMesh) {
    this.host = host;
    this.mesh = mesh;
    this.castCounts = new Uint32Array(mesh.size);
    this.#moves = mesh.moves;
    for (let base = 0; base < mesh.size; base++) this.#procs.push(mesh.procAt(base));
  }

  /** A session of the same sender to an actor of the mesh. @param used whether something may have been sent by it */
  attachSession(session: Session, base: number, used: boolean): void {
    this.followMoves();
    const order = new LaneOrder(this, session, base);
    session.castOrder = order;
    if (used) this.unmarkedLanes.set(base, order);
  }

  /** @throws BackpressureError if a message of so many bytes would not find room */
  checkRoom(size: number, label: string): void {
    const { sendWindowMessages, sendWindowBytes } = this.host.router.limits;
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
    const tree = this.#treeFor(view);
    return tree.tree.isUsable && !tree.isWaiting && this.#hasRoom();
  }

  /** Whether messages to a view are to be in the protobuf layout, as far as that is known. */
  needsProtobuf(view: CastView): boolean {
    return this.#treeFor(view).tree.needsProtobuf;
  }

  /** Casts. `admits` has been asked. */
  cast(view: CastView, request: CastRequest): PendingCast {
    const tree = this.#treeFor(view);
    const cast = new PendingCast(this.#nextSeq, request, this.#positionsOf(view.bases), view.bases.length);
    this.#nextSeq = (this.#nextSeq + 1) >>> 0;
    this.host.keepAlive.hold();
    this.#queue.push({ cast, tree });
    this.#queuedBytes += cast.size;
    this.flush();
    return cast;
  }

  /** Nobody waits for the answers any more. @param reason an index of the reasons to cancel */
  cancel(cast: PendingCast, reason: number): void {
    if (!cast.isCall || cast.isComplete) return;
    const queued = this.#queue.find((entry) => entry.cast === cast);
    if (queued === undefined) {
      for (const { tree } of this.#allTrees()) if (tree.pending.get(cast.seq) === cast) tree.cancel(cast, reason);
      this.host.keepAlive.release();
    } else {
      // Its place in the order has been given to it.
      this.#queuedBytes -= cast.size;
      cast.makeEmpty();
    }
    this.#settle();
  }

  /** Sends what may be sent. */
  flush(): void {
    const urgent = this.#isClosing || this.#whenTaken.length > 0;
    while (this.#queue.length > 0) {
      const { cast, tree } = this.#queue[0]!;
      if (!tree.tree.isUsable || tree.isWaiting) return;
      if (!this.#hasRoom()) {
        this.#requestTaken();
        return;
      }
      this.#queue.shift();
      if (!cast.isEmpty) this.#queuedBytes -= cast.size;
      this.#untakenCasts++;
      this.#untakenBytes += cast.size;
      if (!cast.isCall) this.host.keepAlive.release();
      this.#translateIfNeeded(cast, tree);
      const { waiter } = cast.request;
      tree.tree.sendCast(cast);
      waiter?.credited();
      // Where nobody is left, nothing comes that what was taken could be told with.
      if (urgent || tree.tree.isDead) tree.tree.flush();
    }
  }

  /** Each tree may keep to itself for a while what has been taken: of many trees, all that there is room for. */
  #requestTaken(): void {
    const owing = this.#allTrees().filter(({ tree }) => tree.hasUntaken);
    if (owing.length > 1) for (const { tree } of owing) tree.requestTaken();
  }

  /** Resolves when everything that was cast has been taken, or its receivers are no more. */
  whenTaken(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    for (const { tree } of this.#allTrees()) tree.flush();
    return new Promise((resolve) => this.#whenTaken.push(resolve));
  }

  /** Resolves when, besides, all calls have been answered, or nobody waits for them any more. */
  async whenAnswered(): Promise<void> {
    await this.whenTaken();
    if (!this.#isAnswered) await new Promise<void>((resolve) => this.#whenAnswered.push(resolve));
  }

  /** The sender has ended: nobody waits for answers. What it has sent goes its way. */
  close(): void {
    this.#isClosing = true;
    for (const { cast } of this.#queue) this.cancel(cast, CALLER_GONE);
    for (const { tree } of this.#allTrees()) {
      for (const cast of [...tree.pending.values()]) this.cancel(cast, CALLER_GONE);
      tree.flush();
    }
    this.#settle();
  }

  /**
   * A session of the sender to an actor has ended: casts need not wait for what it had still to say.
   * @param proc where the actor lived; where it has moved to, casts are counted anew
   */
  sessionEnded(base: number, index: number, proc: ProcId | undefined): void {
    for (const { tree } of this.#allTrees()) if (tree.procOf(base) === proc) tree.release(base, index);
  }

  /** A tree has news: some of its casts have been taken. */
  castTaken(cast: PendingCast): void {
    this.#untakenCasts--;
    this.#untakenBytes -= cast.size;
    this.flush();
    this.#settle();
  }

  /** An actor cannot be cast to any more: what is sent to it directly must not wait for casts. */
  exclude(base: number): void {
    this.excluded.add(base);
    const casts = this.castCounts[base]!;
    if (casts > 0) this.sessionEnded(base, casts - 1, this.#procs[base]);
  }

  /** All that a tree led to is no more: it is dropped, unless it is still waited for. */
  treeDied(): void {
    // What is pending in it fails first.
    queueMicrotask(() => this.#settle());
  }

  /** The mesh has been stopped, or is being: nothing will be cast to it any more. */
  meshStopped(): void {
    this.#isMeshStopped = true;
    this.#settle();
  }

  /** Whether the actors still live where a tree of this caster finds them. */
  isCurrent(tree: ViewTree): boolean {
    return !this.#formerTrees.has(tree);
  }

  /** The proc closes its links. */
  failCalls(error: DeliveryError): void {
    for (const { cast } of this.#queue) this.#failCall(cast, error);
    for (const { tree } of this.#allTrees()) for (const cast of [...tree.pending.values()]) this.#failCall(cast, error);
  }

  #failCall(cast: PendingCast, error: DeliveryError): void {
    if (!cast.isCall || cast.isComplete) return;
    cast.failAll(error);
    this.host.keepAlive.release();
  }

  /** A call has been answered by all. */
  callCompleted(): void {
    if (this.#isMeshStopped || this.#whenAnswered.length > 0 || this.#formerTrees.size > 0) this.#settle();
  }

  /** Something has come to its end. */
  #settle(): void {
    for (const tree of this.#formerTrees) {
      if (tree.tree.pending.size > 0 || this.#queue.some((entry) => entry.tree === tree)) continue;
      this.#formerTrees.delete(tree);
      tree.tree.drop(false);
    }
    if (this.#formerTrees.size === 0) for (const resolve of this.#whenFormerDone.splice(0)) resolve();
    if (!this.#isIdle) return;
    for (const resolve of this.#whenTaken.splice(0)) resolve();
    if (this.#isAnswered) for (const resolve of this.#whenAnswered.splice(0)) resolve();
    const { sender, router } = this.host;
    if (this.#isClosing || (this.#isMeshStopped && this.#isAnswered)) {
      for (const { tree } of this.#allTrees()) tree.drop(true);
      this.#trees.clear();
      router.senderEnded(sender, this.mesh.id);
      this.host.senderIdle(true);
      return;
    }
    for (const [key, { tree }] of this.#trees) {
      if (!tree.isDead || tree.pending.size > 0) continue;
      this.#trees.delete(key);
      tree.drop(false);
    }
    if (this.#trees.size > 0 || this.#formerTrees.size > 0) return;
    router.receiversEnded(sender, this.mesh.id);
    this.host.senderIdle(false);
  }

  get #isAnswered(): boolean {
    return this.#isIdle && this.#allTrees().every(({ tree }) => tree.pending.size === 0);
  }

  get #isIdle(): boolean {
    return this.#queue.length === 0 && this.#untakenCasts === 0;
  }

  #hasRoom(): boolean {
    const { creditMessages, creditBytes } = this.host.router.limits;
    return this.#untakenCasts < creditMessages && this.#untakenBytes < creditBytes;
  }

  #allTrees(): ViewTree[] {
    return [...this.#trees.values(), ...this.#formerTrees];
  }

  #treeFor(view: CastView): ViewTree {
    this.followMoves();
    let tree = this.#trees.get(view.key);
    if (tree === undefined) {
      this.host.senderActive();
      tree = new ViewTree(this, view);
      this.#trees.set(view.key, tree);
      for (const base of view.bases) for (const before of this.host.unhandledMessages(base)) tree.waitForFormer(before);
      tree.tree.start();
      this.#dropIdleTrees();
    } else if (this.#trees.size > 1) {
      // The one that was used last stands last.
      this.#trees.delete(view.key);
      this.#trees.set(view.key, tree);
    }
    return tree;
  }

  #dropIdleTrees(): void {
    for (const [key, tree] of this.#trees) {
      if (this.#trees.size <= MAX_IDLE_TREES) return;
      if (tree.tree.pending.size > 0 || this.#queue.some((entry) => entry.tree === tree)) continue;
      this.#trees.delete(key);
      tree.tree.drop(false);
    }
  }

  openBeforeMove(base: number): void {
    if (this.castCounts[base]! > 0 && !this.excluded.has(base)) this.host.openSession(base);
  }

  async whenFormerHandled(): Promise<void> {
    if (this.#formerTrees.size > 0) await new Promise<void>((resolve) => this.#whenFormerDone.push(resolve));
  }

  /** Where actors live elsewhere by now: those know nothing of what was sent to the ones before them. */
  followMoves(): void {
    if (this.mesh.moves === this.#moves) return;
    this.#moves = this.mesh.moves;
    for (let base = 0; base < this.mesh.size; base++) {
      const proc = this.mesh.procAt(base);
      if (proc === this.#procs[base]) continue;
      this.#procs[base] = proc;
      this.castCounts[base] = 0;
      this.unmarkedLanes.delete(base);
      this.excluded.delete(base);
    }
    for (const tree of this.#trees.values()) {
      this.#formerTrees.add(tree);
      tree.tree.flush();
    }
    this.#trees.clear();
    this.#settle();
  }

  #positionsOf(bases: readonly number[]): OrderPosition[] {
    const { castCounts, unmarkedLanes } = this;
    const places: OrderPosition[] = [];
    let count = 0;
    let index = 0;
    let ordering: number = CastOrdering.plain;
    for (const base of bases) {
      const before = castCounts[base]!;
      castCounts[base] = before + 1;
      const order = unmarkedLanes.size === 0 ? undefined : unmarkedLanes.get(base);
      const own = order === undefined ? CastOrdering.plain : CastOrdering.marked;
      order?.markBefore(before);
      if (count > 0 && before === index && own === ordering) {
        count++;
        continue;
      }
      if (count > 0) places.push({ count, index, ordering });
      count = 1;
      index = before;
      ordering = own;
    }
    if (count > 0) places.push({ count, index, ordering });
    return places;
  }

  /** A receiver has another schema: all can read the layout that it can. */
  #translateIfNeeded(cast: PendingCast, { tree, view }: ViewTree): void {
    if (!tree.needsProtobuf || cast.isEmpty || cast.body.isProtobuf) return;
    const { endpoint, label } = cast.request;
    try {
      cast.body = this.host.translate(view.interface, view.interface.endpoints[endpoint]!, cast.body);
    } catch (error) {
      const why = new DeliveryError("refused", (error as Error).message, { cause: error });
      if (cast.isCall) this.#failCall(cast, why);
      else this.host.undeliverable(label, why);
      cast.makeEmpty();
    }
  }
}
