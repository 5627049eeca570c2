/** A part of a tree below a proc, and the frames that go down to it. What comes up is handed out by casts.ts. */
import type { ProcId } from "../link/address.js";
import { writeU32 } from "../link/control.js";
import { beginFrame, Kind } from "../link/frame.js";
import type { Link } from "../link/link.js";
import type { CastFrame } from "./cast-frame.js";
import type { TreeNode } from "./node.js";
import type { RankRun } from "./runs.js";
import { type PlannedProc, ranksBelow, type Setup, writeSetup } from "./setup.js";

/** What a `treeFlush` frame says. */
export const Flush = {
  /** What has been taken is to be told at once. */
  tell: 0,
  /** The tree is not used any more. */
  drop: 1,
  /** And its sender has ended, or will cast to the mesh no more. */
  end: 2,
  /** The root cannot be heard any more from above: whoever hears of it otherwise goes on. */
  orphan: 3,
} as const;

export class Branch {
  readonly node: TreeNode;
  readonly procs: readonly PlannedProc[];
  /** In what is cast to. */
  readonly ranks: readonly RankRun[];
  /** Its actors have said by which schema they know the interface. */
  ready = false;
  /** Casts that it has taken. */
  taken = 0;
  /** Undefined: there is no way to it. */
  link: Link | undefined;
  /** Its number on this proc. */
  handle = 0;

  constructor(node: TreeNode, procs: readonly PlannedProc[]) {
    this.node = node;
    this.procs = procs;
    this.ranks = ranksBelow(procs);
  }

  /** The proc that passes things on. */
  get proc(): ProcId {
    return this.procs[0]!.proc;
  }

  open(link: Link, handle: number, setup: Setup): void {
    this.link = link;
    this.handle = handle;
    const { outbox } = link;
    const at = beginFrame(outbox.writer, Kind.tree, handle, 0);
    writeSetup(outbox.writer, setup);
    outbox.commit(at);
  }

  cast({ seq, endpoint, flags, body, blocks }: CastFrame): void {
    const { link, handle } = this;
    if (link === undefined) return;
    const { outbox } = link;
    const w = outbox.writer;
    const at = beginFrame(w, Kind.cast | (flags << 8) | (endpoint << 16), handle, seq);
    const start = w.reserve(body.length);
    w.bytes.set(body, start);
    w.blocks.push(...blocks);
    outbox.commit(at);
  }

  cancel(seq: number, reason: number): void {
    this.#empty(Kind.castCancel | (reason << 16), seq);
  }

  release(base: number, index: number): void {
    const { link, handle } = this;
    if (link === undefined) return;
    const { outbox } = link;
    const at = beginFrame(outbox.writer, Kind.castRelease, handle, base);
    writeU32(outbox.writer, index);
    outbox.commit(at);
  }

  /** @param over one of `Flush` */
  flush(over: number): void {
    this.#empty(Kind.treeFlush, over);
  }

  #empty(word1: number, b: number): void {
    if (this.link === undefined) return;
    const { outbox } = this.link;
    outbox.commit(beginFrame(outbox.writer, word1, this.handle, b));
  }
}
