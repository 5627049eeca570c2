/**
 * A proc's part of a tree: passes casts on to the procs below and to the actors here, and what they answer back up. It
 * reads neither messages nor answers. The root's own proc has one, too, above which is the root.
 */
import type { MeshId, ProcId } from "../link/address.js";
import type { OtherSchema } from "../link/binding.js";
import { DeliveryError } from "../link/errors.js";
import { WHOLE_MESH } from "../link/extension.js";
import { Flag, ProtocolError } from "../link/frame.js";
import type { Limits } from "../link/limits.js";
import type { Link } from "../link/link.js";
import type { Routes } from "../link/route.js";
import { type Answer, type AnswerGroup, AnswerKind, Answers } from "./answers.js";
import type { Arrivals, CastSender } from "./arrivals.js";
import { Branch, Flush } from "./branch.js";
import { CastArrival } from "./cast-arrival.js";
import { CastFlag, type CastFrame, type CastHead, placeOf, readCast, Way } from "./cast-frame.js";
import type { CasterEnd, ReplyRoute } from "./caster-end.js";
import { countOf, type RankRun, ranksOf, within } from "./runs.js";
import { divide, type PlannedProc, ranksBelow, type Setup } from "./setup.js";
import { Taken } from "./taken.js";

/** Ranks that know the interface by another schema. */
export interface SchemaGroup {
  readonly schema: OtherSchema;
  readonly ranks: readonly RankRun[];
}

/** What is above a part of a tree. */
export interface TreeTop {
  /** All ranks have said by which schema they know the interface; those that are not named have the same one. */
  ready(others: readonly SchemaGroup[]): void;
  answers(seq: number, groups: readonly AnswerGroup[]): void;
  /** All ranks have taken so many casts. */
  taken(casts: number): void;
  /** A proc below cannot be reached any more. */
  lost(proc: ProcId, why: DeliveryError): void;
  /** A cast without answer came back. */
  bounced(label: string, error: DeliveryError): void;
}

/** Makes one answer of those of ranks that follow each other. Never throws: what it cannot fold it leaves as it is. */
export type Fold = (groups: readonly AnswerGroup[]) => readonly AnswerGroup[];

/** What a part of a tree needs of its proc. */
export interface TreeHost {
  readonly id: ProcId;
  readonly limits: Limits;
  readonly routes: Routes;
  /** Draws the number by which a proc below knows its part. */
  handleFor(branch: Branch): number;
  forgetBranch(branch: Branch): void;
  arrivals(
    sender: CastSender,
    target: { readonly mesh: MeshId; readonly owner: ProcId; readonly rank: number },
  ): Arrivals;
  answerOfError(error: Error): Answer;
  /** How the answers of an endpoint are made one; undefined: that is not known here. */
  folding(setup: Setup, endpoint: number, reduction: string): Fold | undefined;
}

interface Gathering {
  /** Makes answers one, as far as they can be. */
  readonly fold: Fold | undefined;
  /** Ranks below whose answers have not come. */
  left: number;
  readonly answers: Answers;
}

/** Answers of so many bytes go up without waiting for the others. */
const FLUSH_BYTES = 1024 * 1024;

export class TreeNode implements ReplyRoute {
  readonly setup: Setup;
  readonly #host: TreeHost;
  readonly #end: CasterEnd;
  readonly #top: TreeTop;
  readonly #own: { readonly rank: number; readonly arrivals: Arrivals }[] = [];
  readonly #below: readonly RankRun[];
  readonly #branches: Branch[];
  readonly #gatherings = new Map<number, Gathering>();
  readonly #taken: Taken;
  /** Actors here and branches that have not said by which schema they know the interface. */
  #asked: number;
  #others: SchemaGroup[] = [];
  #over = false;

  /** @param apart procs that this one passes casts on to by itself, and no others below them */
  constructor(host: TreeHost, end: CasterEnd, setup: Setup, top: TreeTop, apart: readonly PlannedProc[] = []) {
    this.#host = host;
    this.#end = end;
    this.setup = setup;
    this.#top = top;
    const { sender, mesh, owner, procs, window } = setup;
    const [self, ...rest] = procs as [PlannedProc, ...PlannedProc[]];
    for (const { view, base } of self.ranks) {
      let arrivals = end.arrivals.get(base);
      if (arrivals === undefined) {
        arrivals = host.arrivals(sender, { mesh, owner, rank: base });
        end.arrivals.set(base, arrivals);
      }
      arrivals.onBounce = (label, error) => this.bounced(label, error);
      this.#own.push({ rank: view, arrivals });
    }
    const parts = [...divide(rest, host.limits.treeFanout), ...apart.map((proc) => [proc])];
    this.#branches = parts.map((part) => new Branch(this, part));
    this.#below = ranksBelow([...procs, ...apart]);
    this.#taken = new Taken(window, this.#branches, (casts) => top.taken(casts));
    // One more: itself, until it has asked all.
    this.#asked = this.#own.length + parts.length + 1;
  }

  get line(): number {
    return this.setup.line;
  }

  /** Sets up the parts below, and asks the actors here by which schema they know the interface. */
  start(): void {
    for (const branch of this.#branches) this.#open(branch);
    const { interface: known } = this.setup;
    for (const { rank, arrivals } of this.#own) {
      arrivals.agree(known, (schema) => {
        if (schema !== undefined) this.#others.push({ schema, ranks: [{ start: rank, count: 1 }] });
        this.#haveAsked();
      });
    }
    this.#haveAsked();
  }

  cast(frame: CastFrame): void {
    const head = readCast(frame.body, this.setup.size);
    if (frame.endpoint >= this.setup.interface.endpoints.length) {
      throw new ProtocolError(`cannot read cast: its interface has no endpoint ${frame.endpoint}`);
    }
    this.#forget(head.finished);
    for (const branch of this.#branches) branch.cast(frame);
    const isCall = (frame.flags & (CastFlag.call | CastFlag.empty)) === CastFlag.call;
    if (isCall) {
      const { reduction } = head;
      const fold = reduction === "" ? undefined : this.#host.folding(this.setup, frame.endpoint, reduction);
      this.#gatherings.set(frame.seq, { left: this.#receivers(head), answers: new Answers(), fold });
    }
    const own = this.#own.filter(({ rank }) => placeOf(head.places, rank).way !== Way.none);
    const taken = this.#taken.add(own.length, head.message.length);
    for (const { rank, arrivals } of own) this.#arrive(frame, head, rank, arrivals, isCall, taken);
  }

  /** An actor here has answered. */
  answered(seq: number, rank: number, answer: Answer): void {
    const gathering = this.#gatherings.get(seq);
    if (gathering === undefined || this.#over) return;
    gathering.answers.add(answer, [{ start: rank, count: 1 }]);
    gathering.left--;
    this.#passOn(seq, gathering, answer.kind === AnswerKind.failure);
  }

  answerOfError(error: Error): Answer {
    return this.#host.answerOfError(error);
  }

  /** Answers of a part below. */
  answers(branch: Branch, seq: number, groups: readonly AnswerGroup[]): void {
    for (const { ranks } of groups) {
      if (!within(ranks, branch.ranks)) throw new ProtocolError("cannot read answers: of ranks that are elsewhere");
    }
    const gathering = this.#gatherings.get(seq);
    if (gathering === undefined) return;
    let fails = false;
    for (const group of groups) {
      gathering.answers.add(group, group.ranks);
      gathering.left -= countOf(group.ranks);
      if (group.kind === AnswerKind.failure) fails = true;
    }
    this.#passOn(seq, gathering, fails);
  }

  ready(branch: Branch, others: readonly SchemaGroup[]): void {
    if (branch.ready) throw new ProtocolError("cannot read treeReady: it came twice");
    for (const { ranks } of others) {
      if (!within(ranks, branch.ranks)) throw new ProtocolError("cannot read treeReady: of ranks that are elsewhere");
    }
    branch.ready = true;
    this.#others.push(...others);
    this.#haveAsked();
  }

  /** A part below has taken so many casts. */
  taken(branch: Branch, casts: number): void {
    this.#taken.below(branch, casts);
  }

  lost(proc: ProcId, why: DeliveryError): void {
    if (!this.#over) this.#top.lost(proc, why);
  }

  bounced(label: string, error: DeliveryError): void {
    if (!this.#over) this.#top.bounced(label, error);
  }

  /** Nobody waits for the answers to a cast any more. */
  cancel(seq: number, reason: number): void {
    this.#gatherings.delete(seq);
    for (const branch of this.#branches) branch.cancel(seq, reason);
    this.#end.cancel(seq, reason);
  }

  /** Direct messages to an actor will not come: casts up to a number need not wait for them. */
  release(base: number, index: number): void {
    for (const branch of this.#branches) branch.release(base, index);
    const own = this.setup.procs[0]!.ranks.findIndex((rank) => rank.base === base);
    this.#own[own]?.arrivals.release(index);
  }

  /** What has been taken is told at once. */
  flush(): void {
    for (const branch of this.#branches) branch.flush(Flush.tell);
    this.#taken.flush();
  }

  /** A link has ended: the procs at its other end are lost, for this tree. */
  linkEnded(link: Link, why: DeliveryError): void {
    for (const branch of this.#branches) if (branch.link === link) this.lost(branch.proc, why);
  }

  /** A proc is known to have ended: where it is below, it is lost, though others may still reach it. */
  peerDown(proc: ProcId, why: DeliveryError): void {
    const isBelow = this.#branches.some(({ procs }) => procs.some((planned) => planned.proc === proc));
    if (isBelow) this.lost(proc, why);
  }

  /** It is not used any more. @param tell what those below are told; undefined: another tree takes its place, they know */
  drop(tell: number | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#gatherings.clear();
    for (const branch of this.#branches) {
      if (tell !== undefined) branch.flush(tell);
      this.#host.forgetBranch(branch);
    }
  }

  #open(branch: Branch): void {
    const { setup } = this;
    const [{ proc, location }] = branch.procs as [PlannedProc];
    try {
      const link = this.#host.routes.to(proc, location, setup.owner);
      branch.open(link, this.#host.handleFor(branch), { ...setup, procs: branch.procs });
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      // Not at once: whoever makes this tree does not have it yet.
      queueMicrotask(() => this.lost(proc, error));
    }
  }

  #arrive(
    frame: CastFrame,
    head: CastHead & { readonly message: Uint8Array },
    rank: number,
    arrivals: Arrivals,
    isCall: boolean,
    taken: () => void,
  ): void {
    const { seq, endpoint, flags, blocks } = frame;
    const { extension: given, message } = head;
    const { extent, interface: known } = this.setup;
    const { index, way } = placeOf(head.places, rank);
    const reply = this.#end.reply(seq, rank);
    if (reply !== undefined) reply.route = this;
    const protobuf = (flags & Flag.protobuf) !== 0;
    const size = message.length + blocks.reduce((sum, block) => sum + block.length, 0);
    const cast = new CastArrival({
      seq,
      index,
      way,
      taken,
      slot: (session) => session.slotOf(known) + endpoint,
      body: (flags & CastFlag.empty) === 0 ? { bytes: message, blocks, size, protobuf } : undefined,
      extension: (session) =>
        given === undefined && extent === undefined
          ? undefined
          : {
              ...(given ?? noExtension),
              rank,
              extent: extent === undefined ? WHOLE_MESH : session.link.extentNumber(extent),
            },
      reply: isCall ? () => this.#end.newReply(this, seq, rank) : undefined,
    });
    if ((flags & CastFlag.recall) === 0 && arrivals.arrive(cast)) return;
    taken();
    if (!isCall) return;
    if (reply?.answer !== undefined) this.answered(seq, rank, reply.answer);
    else if (reply === undefined) {
      const why = "its answer was lost on the way, and is not known any more";
      this.answered(seq, rank, this.answerOfError(new DeliveryError("closed", why)));
    }
  }

  #receivers({ places }: CastHead): number {
    const all = countOf(this.#below);
    if (places.every(({ way }) => way !== Way.none)) return all;
    let none = 0;
    for (const rank of ranksOf(this.#below)) if (placeOf(places, rank).way === Way.none) none++;
    return all - none;
  }

  #passOn(seq: number, gathering: Gathering, atOnce: boolean): void {
    const { left, answers, fold } = gathering;
    if (left <= 0) this.#gatherings.delete(seq);
    else if (!atOnce && answers.bytes < FLUSH_BYTES) return;
    const groups = answers.take();
    this.#top.answers(seq, fold === undefined ? groups : fold(groups));
  }

  #forget(casts: readonly RankRun[]): void {
    this.#end.forget(casts);
    for (const { start, count } of casts) {
      for (const seq of this.#gatherings.keys()) if ((seq - start) >>> 0 < count) this.#gatherings.delete(seq);
    }
  }

  #haveAsked(): void {
    if (--this.#asked === 0 && !this.#over) this.#top.ready(this.#others);
  }
}

const noExtension = { timeout: 0, trace: undefined, chain: [] };
