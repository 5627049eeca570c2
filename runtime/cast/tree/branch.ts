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

/** The meanings of a `treeFlush` frame. */
export const FlushMode = {
  /** Received casts are to be reported at once. */
  tell: 0,
  /** The tree is not used any more. */
  drop: 1,
  /** The tree is not used any more, and its sender has ended or will not cast to the mesh any more. */
  end: 2,
  /** The connection to the root above was lost. The procs below report to the root by another way. */
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
  /** The ranks of the branch in the view. */
  readonly ranks: readonly RankRun[];
  /** Whether all actors of the branch have reported their schemas. */
  isReady = false;
  /** The number of casts that all actors of the branch have received. */
  takenCasts = 0;
  /** The link to the proc of the branch, or undefined if the proc cannot be reached. */
  link: Link | undefined;
  /** The number of the branch on this proc. */
  handle = 0;

  constructor(node: BranchNode, procs: readonly PlannedProc[]) {
    this.node = node;
    this.procs = procs;
    this.ranks = ranksOfProcs(procs);
  }

  /** The proc at the top of the branch. */
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

  /**
   * Sends a `treeFlush` frame.
   * @param over one of `FlushMode`
   */
  flush(over: number): void {
    this.#sendEmpty(FrameKind.treeFlush, over);
  }

  #sendEmpty(word1: number, b: number): void {
    if (this.link === undefined) return;
    const { outbox } = this.link;
    outbox.commit(beginFrame(outbox.writer, word1, this.handle, b));
  }
}
