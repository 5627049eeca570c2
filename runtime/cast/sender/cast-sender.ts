/**
 * The casts of one sender to one mesh, at the root of its trees. It keeps the order of the casts among each other and
 * with the sender's direct messages, and counts credit. It sets up one tree for each slice, on first use.
 */
import type { ProcId } from "../../link/address.js";
import { BackpressureError, DeliveryError } from "../../link/errors.js";
import type { Session } from "../../link/outbound/session.js";
import type { CastMesh, CastSenderHost, CastView } from "./cast-view.js";
import { LaneOrder, type OrderedCasts } from "./lane-order.js";
import { takePositions } from "./order-positions.js";
import { type CastRequest, PendingCast } from "./pending-cast.js";
import { ViewTree, type ViewTreeOwner } from "./view-tree.js";

interface QueuedCast {
  readonly cast: PendingCast;
  readonly tree: ViewTree;
}

/** The number of trees that are kept without pending casts. */
const MAX_IDLE_TREES = 32;
/** The cancel reason for a caller that has ended. */
const CALLER_GONE = 0;

export class CastSender implements OrderedCasts, ViewTreeOwner {
  readonly mesh: CastMesh;
  readonly host: CastSenderHost;
  /** The number of casts to each actor of the mesh, since the actor has been on its current proc. 0 for those that have left. */
  castCounts: Uint32Array;
  /** The sessions with messages that the receiver must handle before the next cast. */
  readonly unmarkedLanes = new Map<number, LaneOrder>();
  /** The actors to which casts are impossible. Their direct messages do not wait for casts. */
  readonly excluded = new Set<number>();
  readonly #trees = new Map<string, ViewTree>();
  /** The trees whose casts were sent before an actor moved. */
  readonly #formerTrees = new Set<ViewTree>();
  /** The procs of the actors. Undefined for an actor whose proc is not known, and for one that has left the mesh. */
  readonly #procs: (ProcId | undefined)[] = [];
  #moves: number;
  #nextSeq = 1;
  #queue: QueuedCast[] = [];
  #queuedBytes = 0;
  /** The number of casts, and their bytes below, that were sent and not received by all actors. */
  #untakenCasts = 0;
  #untakenBytes = 0;
  #isClosing = false;
  /** Whether the mesh has been stopped. */
  #isMeshStopped = false;
  #whenTaken: (() => void)[] = [];
  #whenAnswered: (() => void)[] = [];
  #whenFormerDone: (() => void)[] = [];

  constructor(host: CastSenderHost, mesh: CastMesh) {
    this.host = host;
    this.mesh = mesh;
    this.castCounts = new Uint32Array(0);
    this.#moves = mesh.moves;
    this.#addJoinedRanks();
  }

  /**
   * Adds a session of the same sender to an actor of the mesh.
   * @param used whether messages may have been sent on the session
   */
  attachSession(session: Session, base: number, used: boolean): void {
    this.followMoves();
    const order = new LaneOrder(this, session, base);
    session.castOrder = order;
    if (used) this.unmarkedLanes.set(base, order);
  }

  /**
   * Checks that the send window has room for a message of `size` bytes.
   * @throws BackpressureError if it has not
   */
  checkRoom(size: number, label: string): void {
    const { sendWindowMessages, sendWindowBytes } = this.host.router.limits;
    const waiting = this.#queue.length;
    if (waiting === 0 || (waiting < sendWindowMessages && this.#queuedBytes + size <= sendWindowBytes)) return;
    throw new BackpressureError(
      `cannot send ${label}: ${waiting} messages (${this.#queuedBytes} bytes) already wait for the receivers, the ` +
        `send window being ${sendWindowMessages} messages and ${sendWindowBytes} bytes; await what broadcast and send return`,
    );
  }

  /** Returns whether a cast to a view would be sent without being queued. */
  hasCredit(view: CastView): boolean {
    if (this.#queue.length > 0) return false;
    const tree = this.#treeFor(view);
    return tree.tree.isUsable && !tree.isWaiting && this.#hasRoom();
  }

  /** Returns whether messages to a view must be in the protobuf layout, as far as the schemas are known. */
  needsProtobuf(view: CastView): boolean {
    return this.#treeFor(view).tree.needsProtobuf;
  }

  /** Sends or queues a cast. The caller has called `checkRoom`. */
  cast(view: CastView, request: CastRequest): PendingCast {
    const tree = this.#treeFor(view);
    const positions = takePositions(view.bases, tree.tree.plan.absent, this);
    const cast = new PendingCast(this.#nextSeq, request, positions, view.bases.length);
    this.#nextSeq = (this.#nextSeq + 1) >>> 0;
    this.host.keepAlive.hold();
    this.#queue.push({ cast, tree });
    this.#queuedBytes += cast.size;
    this.flush();
    return cast;
  }

  /**
   * Cancels a cast whose caller no longer waits.
   * @param reason one of `CancelReason`
   */
  cancel(cast: PendingCast, reason: number): void {
    if (!cast.isCall || cast.isComplete) return;
    const queued = this.#queue.find((entry) => entry.cast === cast);
    if (queued === undefined) {
      for (const { tree } of this.#allTrees()) if (tree.pending.get(cast.seq) === cast) tree.cancel(cast, reason);
      this.host.keepAlive.release();
    } else {
      // The cast is sent without its message, because it has a place in the order.
      this.#queuedBytes -= cast.size;
      cast.makeEmpty();
    }
    this.#settle();
  }

  /** Sends the queued casts for which there is credit. */
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
      // A tree without live actors reports nothing, so its casts count as received.
      if (urgent || tree.tree.isDead) tree.tree.flush();
    }
  }

  /** Asks the trees to report received casts. Each tree delays its reports, and the delays of many trees could use all credit. */
  #requestTaken(): void {
    const owing = this.#allTrees().filter(({ tree }) => tree.hasUntaken);
    if (owing.length > 1) for (const { tree } of owing) tree.requestTaken();
  }

  /** Resolves when all casts have been received, or their receivers have ended. */
  whenTaken(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    for (const { tree } of this.#allTrees()) tree.flush();
    return new Promise((resolve) => this.#whenTaken.push(resolve));
  }

  /** Resolves when all casts have been received, and all calls have been answered or given up. */
  async whenAnswered(): Promise<void> {
    await this.whenTaken();
    if (!this.#isAnswered) await new Promise<void>((resolve) => this.#whenAnswered.push(resolve));
  }

  /** The sender has ended, and nobody waits for its answers. Casts that were sent are still delivered. */
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
   * A session of the sender to an actor has ended. Casts need not wait for its messages any more.
   * @param proc the proc of the actor during the session; if the actor has moved, casts are counted from 0 again
   */
  sessionEnded(base: number, index: number, proc: ProcId | undefined): void {
    for (const { tree } of this.#allTrees()) if (tree.procOf(base) === proc) tree.release(base, index);
  }

  /** All actors of a tree have received a cast. */
  castTaken(cast: PendingCast): void {
    this.#untakenCasts--;
    this.#untakenBytes -= cast.size;
    this.flush();
    this.#settle();
  }

  /** Casts to an actor are impossible from now on. Direct messages to the actor must not wait for casts. */
  exclude(base: number): void {
    this.excluded.add(base);
    const casts = this.castCounts[base]!;
    if (casts > 0) this.sessionEnded(base, casts - 1, this.#procs[base]);
  }

  /** All actors of a tree have ended. The tree is dropped unless calls in it are pending. */
  treeDied(): void {
    // The pending calls of the tree fail first.
    queueMicrotask(() => this.#settle());
  }

  /** The mesh is stopped, and nothing more is cast to it. */
  meshStopped(): void {
    this.#isMeshStopped = true;
    this.#settle();
  }

  /** Returns whether the actors are still on the procs of a tree. */
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

  /** All ranks have answered a call. */
  callCompleted(): void {
    if (this.#isMeshStopped || this.#whenAnswered.length > 0 || this.#formerTrees.size > 0) this.#settle();
  }

  /** Resolves the promises whose conditions hold, and reports whether work is left. */
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
      for (const base of view.bases) {
        if (this.mesh.hasLeft(base)) continue;
        for (const before of this.host.unhandledMessages(base)) tree.waitForFormer(before);
      }
      tree.tree.start();
      this.#dropIdleTrees();
    } else if (this.#trees.size > 1) {
      // The map keeps the order of last use.
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

  /**
   * Resets the order for actors that have moved or returned, because their new procs know nothing of earlier messages, and
   * for those that have left, because nothing more is sent to them. Trees that include such actors are used for the casts
   * that were sent before, and for no others.
   */
  followMoves(): void {
    this.#addJoinedRanks();
    if (this.mesh.moves === this.#moves) return;
    this.#moves = this.mesh.moves;
    for (let base = 0; base < this.#procs.length; base++) {
      const proc = this.#currentProcOf(base);
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

  /** Counts casts to the ranks that have joined the mesh, too. */
  #addJoinedRanks(): void {
    const { rankCount } = this.mesh;
    if (rankCount === this.castCounts.length) return;
    const counts = new Uint32Array(rankCount);
    counts.set(this.castCounts);
    this.castCounts = counts;
    for (let base = this.#procs.length; base < rankCount; base++) this.#procs.push(this.#currentProcOf(base));
  }

  #currentProcOf(base: number): ProcId | undefined {
    return this.mesh.hasLeft(base) ? undefined : this.mesh.procAt(base);
  }

  /**
   * Translates a cast into the protobuf layout if one of the receivers has another schema. All receivers can read that
   * layout.
   */
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
