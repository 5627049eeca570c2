/** A part of a tree below a proc, and the frames that go down to it. `cast-router.ts` handles the frames that come up. */
import type { ProcId } from "../../link/address.js";
import type { DeliveryError } from "../../link/errors.js";
import { writeU32 } from "../../link/frame/control-body.js";
import { beginFrame, FrameKind } from "../../link/frame/frame.js";
import type { Link } from "../../link/link.js";
import type { AnswerGroup } from "./answers.js";
import type { CastFrame } from "./cast-frame.js";
import type { RankRun } from "./rank-runs.js";
import type { SchemaGroup } from "./schema-group.js";
import { type PlannedProc, ranksOfProcs, type TreeSetup, writeSetup } from "./tree-setup.js";

/** What a `treeFlush` frame says. */
export const FlushMode = {
  /** What has been taken is to be told at once. */
  tell: 0,
  /** The tree is not used any more. */
  drop: 1,
  /** And its sender has ended, or will cast to the mesh no more. */
  end: 2,
  /** The root cannot be heard any more from above: whoever hears of it otherwise goes on. */
  orphan: 3,
} as const;

/** The node above a branch, which handles what comes up. */
export interface BranchNode {
  /** The actors of the branch have reported their schemas. */
  ready(branch: Branch, others: readonly SchemaGroup[]): void;
  answers(branch: Branch, seq: number, groups: readonly AnswerGroup[]): void;
  /** All actors of the branch have taken this number of casts. */
  taken(branch: Branch, casts: number): void;
  /** A proc of the branch cannot be reached any more. */
  lost(proc: ProcId, why: DeliveryError): void;
  /** A cast without an answer could not be delivered. */
  bounced(label: string, error: DeliveryError): void;
}

export class Branch {
  readonly node: BranchNode;
  readonly procs: readonly PlannedProc[];
  /** In what is cast to. */
  readonly ranks: readonly RankRun[];
  /** Its actors have said by which schema they know the interface. */
  isReady = false;
  /** Casts that it has taken. */
  takenCasts = 0;
  /** Undefined: there is no way to it. */
  link: Link | undefined;
  /** Its number on this proc. */
  handle = 0;

  constructor(node: BranchNode, procs: readonly PlannedProc[]) {
    this.node = node;
    this.procs = procs;
    this.ranks = ranksOfProcs(procs);
  }

  /** The proc that passes things on. */
  get proc(): ProcId {
    return this.procs[0]!.proc;
  }

  setUp(link: Link, handle: number, setup: TreeSetup): void {
    this.link = link;
    this.handle = handle;
    const { outbox } = link;
    const at = beginFrame(outbox.writer, FrameKind.tree, handle, 0);
    writeSetup(outbox.writer, setup);
    outbox.commit(at);
  }

  cast({ seq, endpoint, flags, body, blocks }: CastFrame): void {
    const { link, handle } = this;
    if (link === undefined) return;
    const { outbox } = link;
    const w = outbox.writer;
    const at = beginFrame(w, FrameKind.cast | (flags << 8) | (endpoint << 16), handle, seq);
    const start = w.reserve(body.length);
    w.bytes.set(body, start);
    w.blocks.push(...blocks);
    outbox.commit(at);
  }

  cancel(seq: number, reason: number): void {
    this.#sendEmpty(FrameKind.castCancel | (reason << 16), seq);
  }

  release(base: number, index: number): void {
    const { link, handle } = this;
    if (link === undefined) return;
    const { outbox } = link;
    const at = beginFrame(outbox.writer, FrameKind.castRelease, handle, base);
    writeU32(outbox.writer, index);
    outbox.commit(at);
  }

  /** @param over one of `Flush` */
  flush(over: number): void {
    this.#sendEmpty(FrameKind.treeFlush, over);
  }

  #sendEmpty(word1: number, b: number): void {
    if (this.link === undefined) return;
    const { outbox } = this.link;
    outbox.commit(beginFrame(outbox.writer, word1, this.handle, b));
  }
}
