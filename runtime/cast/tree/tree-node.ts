/**
 * The part of a tree on one proc. It forwards casts to the procs below and to the actors here, and their answers up. It
 * decodes neither messages nor answers. The proc of the root has a node as well, whose parent is the root.
 */
import type { ProcId } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import { FrameFlag, ProtocolError } from "../../link/frame/frame.js";
import { WHOLE_MESH } from "../../link/frame/message-extension.js";
import type { Link } from "../../link/link.js";
import { CastArrival } from "../receiver/cast-arrival.js";
import type { CastReceiver, ReplyRoute } from "../receiver/cast-receiver.js";
import type { OrderedArrivals } from "../receiver/ordered-arrivals.js";
import { AnswerCollector, type AnswerGroup, AnswerKind, type RankAnswer } from "./answers.js";
import { Branch, type BranchNode, FlushMode } from "./branch.js";
import { CastFlag, type CastFrame, type CastHead, CastOrdering, orderPositionOf, readCast } from "./cast-frame.js";
import { countRanks, isWithin, type RankRun, ranksOf } from "./rank-runs.js";
import type { SchemaGroup } from "./schema-group.js";
import { TakenCounter } from "./taken-counter.js";
import type { AnswerFold, NodeParent, TreeHost } from "./tree-node-types.js";
import { type PlannedProc, ranksOfProcs, splitEvenly, type TreeSetup } from "./tree-setup.js";

interface AnswerGathering {
  /** Combines answers as far as possible. */
  readonly fold: AnswerFold | undefined;
  /** The number of ranks below whose answers have not come. */
  unanswered: number;
  readonly answers: AnswerCollector;
}

/** The number of bytes from which on answers are sent up without waiting for others. */
const FLUSH_BYTES = 1024 * 1024;

export class TreeNode implements ReplyRoute, BranchNode {
  readonly setup: TreeSetup;
  readonly #host: TreeHost;
  readonly #receiver: CastReceiver;
  readonly #parent: NodeParent;
  readonly #localRanks: { readonly rank: number; readonly arrivals: OrderedArrivals }[] = [];
  readonly #ranksBelow: readonly RankRun[];
  readonly #branches: Branch[];
  readonly #gatherings = new Map<number, AnswerGathering>();
  readonly #takenCounter: TakenCounter;
  /** The number of actors here and branches that have not reported their schemas. */
  #schemasAwaited: number;
  #peerSchemas: SchemaGroup[] = [];
  #isDropped = false;

  /**
   * Creates a node.
   * @param apart procs that get a branch of their own, with no other procs below them
   */
  constructor(
    host: TreeHost,
    end: CastReceiver,
    setup: TreeSetup,
    top: NodeParent,
    apart: readonly PlannedProc[] = [],
  ) {
    this.#host = host;
    this.#receiver = end;
    this.setup = setup;
    this.#parent = top;
    const { sender, mesh, owner, procs, window } = setup;
    const [self, ...rest] = procs as [PlannedProc, ...PlannedProc[]];
    for (const { viewRank, meshRank } of self.ranks) {
      let arrivals = end.arrivals.get(meshRank);
      if (arrivals === undefined) {
        arrivals = host.arrivalsFor(sender, { mesh, owner, rank: meshRank });
        end.arrivals.set(meshRank, arrivals);
      }
      arrivals.onBounce = (label, error) => this.bounced(label, error);
      this.#localRanks.push({ rank: viewRank, arrivals });
    }
    const parts = [...splitEvenly(rest, host.limits.treeFanout), ...apart.map((proc) => [proc])];
    this.#branches = parts.map((part) => new Branch(this, part));
    this.#ranksBelow = ranksOfProcs([...procs, ...apart]);
    this.#takenCounter = new TakenCounter(window, this.#branches, (casts) => top.taken(casts));
    // The node counts itself until it has asked all actors and branches.
    this.#schemasAwaited = this.#localRanks.length + parts.length + 1;
  }

  get lineage(): number {
    return this.setup.lineage;
  }

  /** Sets up the branches, and asks the actors here for their schemas. */
  start(): void {
    for (const branch of this.#branches) this.#setUpBranch(branch);
    const { interface: known } = this.setup;
    for (const { rank, arrivals } of this.#localRanks) {
      arrivals.askForSchema(known, (schema) => {
        if (schema !== undefined) this.#peerSchemas.push({ schema, ranks: [{ start: rank, count: 1 }] });
        this.#schemaAnswered();
      });
    }
    this.#schemaAnswered();
  }

  cast(frame: CastFrame): void {
    const head = readCast(frame.body, this.setup.size);
    if (frame.endpoint >= this.setup.interface.endpoints.length) {
      throw new ProtocolError(`cannot read cast: its interface has no endpoint ${frame.endpoint}`);
    }
    this.#forgetFinished(head.finished);
    for (const branch of this.#branches) branch.cast(frame);
    const isCall = (frame.flags & (CastFlag.call | CastFlag.empty)) === CastFlag.call;
    if (isCall) {
      const { reduction } = head;
      const fold = reduction === "" ? undefined : this.#host.foldFor(this.setup, frame.endpoint, reduction);
      this.#gatherings.set(frame.seq, { unanswered: this.#receiverCount(head), answers: new AnswerCollector(), fold });
    }
    const own = this.#localRanks.filter(
      ({ rank }) => orderPositionOf(head.positions, rank).ordering !== CastOrdering.none,
    );
    const taken = this.#takenCounter.addCast(own.length, head.message.length);
    for (const { rank, arrivals } of own) this.#deliverTo(frame, head, rank, arrivals, isCall, taken);
  }

  /** An actor here has answered. */
  answered(seq: number, rank: number, answer: RankAnswer): void {
    const gathering = this.#gatherings.get(seq);
    if (gathering === undefined || this.#isDropped) return;
    gathering.answers.add(answer, [{ start: rank, count: 1 }]);
    gathering.unanswered--;
    this.#passUp(seq, gathering, answer.kind === AnswerKind.failure);
  }

  answerOfError(error: Error): RankAnswer {
    return this.#host.answerOfError(error);
  }

  /** Handles answers of a branch. */
  answers(branch: Branch, seq: number, groups: readonly AnswerGroup[]): void {
    for (const { ranks } of groups) {
      if (!isWithin(ranks, branch.ranks)) throw new ProtocolError("cannot read answers: of ranks that are elsewhere");
    }
    const gathering = this.#gatherings.get(seq);
    if (gathering === undefined) return;
    let fails = false;
    for (const group of groups) {
      gathering.answers.add(group, group.ranks);
      gathering.unanswered -= countRanks(group.ranks);
      if (group.kind === AnswerKind.failure) fails = true;
    }
    this.#passUp(seq, gathering, fails);
  }

  ready(branch: Branch, others: readonly SchemaGroup[]): void {
    if (branch.isReady) throw new ProtocolError("cannot read treeReady: it came twice");
    for (const { ranks } of others) {
      if (!isWithin(ranks, branch.ranks)) throw new ProtocolError("cannot read treeReady: of ranks that are elsewhere");
    }
    branch.isReady = true;
    this.#peerSchemas.push(...others);
    this.#schemaAnswered();
  }

  /** All actors of a branch have taken this number of casts. */
  taken(branch: Branch, casts: number): void {
    branch.takenCasts = casts;
    this.#takenCounter.takenBelow();
  }

  lost(proc: ProcId, why: DeliveryError): void {
    if (!this.#isDropped) this.#parent.lost(proc, why);
  }

  bounced(label: string, error: DeliveryError): void {
    if (!this.#isDropped) this.#parent.bounced(label, error);
  }

  /** Cancels a cast whose caller no longer waits. */
  cancel(seq: number, reason: number): void {
    this.#gatherings.delete(seq);
    for (const branch of this.#branches) branch.cancel(seq, reason);
    this.#receiver.cancel(seq, reason);
  }

  /** No more direct messages to an actor will come. Casts up to a number need not wait for them. */
  release(base: number, index: number): void {
    for (const branch of this.#branches) branch.release(base, index);
    const own = this.setup.procs[0]!.ranks.findIndex((rank) => rank.meshRank === base);
    this.#localRanks[own]?.arrivals.releaseUpTo(index);
  }

  /** Reports the casts that were taken at once. */
  flush(): void {
    for (const branch of this.#branches) branch.flush(FlushMode.tell);
    this.#takenCounter.flush();
  }

  /** A link has ended. The procs behind it are lost for this tree. */
  linkEnded(link: Link, why: DeliveryError): void {
    for (const branch of this.#branches) if (branch.link === link) this.lost(branch.proc, why);
  }

  /** A proc is known to have ended. The branch with the proc is lost, even if others may still reach the proc. */
  peerDown(proc: ProcId, why: DeliveryError): void {
    const isBelow = this.#branches.some(({ procs }) => procs.some((planned) => planned.proc === proc));
    if (isBelow) this.lost(proc, why);
  }

  /**
   * Drops the node, which is not used any more.
   * @param tell what the procs below are told: one of `FlushMode`, or undefined if another tree takes the place of this
   * one, which tells them
   */
  drop(tell: number | undefined): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#gatherings.clear();
    for (const branch of this.#branches) {
      if (tell !== undefined) branch.flush(tell);
      this.#host.forgetBranch(branch);
    }
  }

  #setUpBranch(branch: Branch): void {
    const { setup } = this;
    const [{ proc, location }] = branch.procs as [PlannedProc];
    try {
      const link = this.#host.routes.linkTo(proc, location, setup.owner);
      branch.setUp(link, this.#host.assignHandle(branch), { ...setup, procs: branch.procs });
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      // The loss is reported later, because the creator of this tree does not have the tree yet.
      queueMicrotask(() => this.lost(proc, error));
    }
  }

  #deliverTo(
    frame: CastFrame,
    head: CastHead & { readonly message: Uint8Array },
    rank: number,
    arrivals: OrderedArrivals,
    isCall: boolean,
    onTaken: () => void,
  ): void {
    const { seq, endpoint, flags, blocks } = frame;
    const { extension: given, message } = head;
    const { extent, interface: known } = this.setup;
    const { index, ordering } = orderPositionOf(head.positions, rank);
    const reply = this.#receiver.replyOf(seq, rank);
    if (reply !== undefined) reply.route = this;
    const isProtobuf = (flags & FrameFlag.protobuf) !== 0;
    const size = message.length + blocks.reduce((sum, block) => sum + block.length, 0);
    const cast = new CastArrival({
      seq,
      index,
      ordering,
      onTaken,
      slot: (session) => session.slotOf(known) + endpoint,
      body: (flags & CastFlag.empty) === 0 ? { bytes: message, blocks, size, isProtobuf } : undefined,
      extension: (session) =>
        given === undefined && extent === undefined
          ? undefined
          : {
              ...(given ?? emptyExtension),
              rank,
              extent: extent === undefined ? WHOLE_MESH : session.link.numberOfExtent(extent),
            },
      createReply: isCall ? () => this.#receiver.createReply(this, seq, rank) : undefined,
    });
    if ((flags & CastFlag.recall) === 0 && arrivals.addCast(cast)) return;
    onTaken();
    if (!isCall) return;
    if (reply?.answer !== undefined) this.answered(seq, rank, reply.answer);
    else if (reply === undefined) {
      const why = "its answer was lost on the way, and is not known any more";
      this.answered(seq, rank, this.answerOfError(new DeliveryError("closed", why)));
    }
  }

  #receiverCount({ positions }: CastHead): number {
    const all = countRanks(this.#ranksBelow);
    if (positions.every(({ ordering }) => ordering !== CastOrdering.none)) return all;
    let none = 0;
    for (const rank of ranksOf(this.#ranksBelow))
      if (orderPositionOf(positions, rank).ordering === CastOrdering.none) none++;
    return all - none;
  }

  #passUp(seq: number, gathering: AnswerGathering, atOnce: boolean): void {
    const { unanswered, answers, fold } = gathering;
    if (unanswered <= 0) this.#gatherings.delete(seq);
    else if (!atOnce && answers.bytes < FLUSH_BYTES) return;
    const groups = answers.takeAll();
    this.#parent.answers(seq, fold === undefined ? groups : fold(groups));
  }

  #forgetFinished(casts: readonly RankRun[]): void {
    this.#receiver.forgetCasts(casts);
    for (const { start, count } of casts) {
      for (const seq of this.#gatherings.keys()) if ((seq - start) >>> 0 < count) this.#gatherings.delete(seq);
    }
  }

  #schemaAnswered(): void {
    if (--this.#schemasAwaited === 0 && !this.#isDropped) this.#parent.ready(this.#peerSchemas);
  }
}

const emptyExtension = { timeout: 0, trace: undefined, chain: [] };
