/**
 * How many casts have been taken, that is, have had credit with all actors of a part of a tree: what a root may send is
 * bounded by what it does not know to be taken. Told in batches: those at the ends of the tree wait until a quarter of
 * what the root allows has come together, those above pass on what they hear.
 */
import { comesBefore } from "./cast-frame.js";

const REPORT_BATCHES = 4;

/** A part of the tree below, with the number of casts that it has taken. */
interface CountedBranch {
  readonly takenCasts: number;
}

interface UntakenCast {
  /** Actors here that have not taken it. */
  left: number;
  readonly size: number;
}

export class TakenCounter {
  readonly #branches: readonly CountedBranch[];
  readonly #report: (casts: number) => void;
  readonly #castBatch: number;
  readonly #byteBatch: number;
  /** Casts that not all actors here have taken, or that came after one of those. */
  #untaken: UntakenCast[] = [];
  /** Taken by all actors here. */
  #takenHere = 0;
  #reported = 0;
  /** Bytes of what was taken here and not told. */
  #bytes = 0;
  /** Up to here everything is told at once. */
  #reportAtOnceUpTo = 0;

  constructor(
    window: { readonly casts: number; readonly bytes: number },
    branches: readonly CountedBranch[],
    tell: (casts: number) => void,
  ) {
    this.#branches = branches;
    this.#report = tell;
    this.#castBatch = Math.max(1, Math.floor(window.casts / REPORT_BATCHES));
    this.#byteBatch = Math.max(1, Math.floor(window.bytes / REPORT_BATCHES));
  }

  /** A cast has come. @returns what to call for each actor that has taken it */
  addCast(actors: number, size: number): () => void {
    const waiting = { left: actors, size };
    this.#untaken.push(waiting);
    this.#advance();
    return () => {
      waiting.left--;
      this.#advance();
    };
  }

  /** Called when the count of a branch has changed. */
  takenBelow(): void {
    this.#reportIfDue();
  }

  /** What has come until now is told as soon as it has been taken. */
  flush(): void {
    this.#reportAtOnceUpTo = (this.#takenHere + this.#untaken.length) >>> 0;
    this.#reportIfDue();
  }

  #advance(): void {
    let passed = 0;
    for (const { left, size } of this.#untaken) {
      if (left > 0) break;
      passed++;
      this.#bytes += size;
    }
    if (passed === 0) return;
    this.#untaken.splice(0, passed);
    this.#takenHere = (this.#takenHere + passed) >>> 0;
    this.#reportIfDue();
  }

  #reportIfDue(): void {
    let below = this.#takenHere;
    for (const { takenCasts } of this.#branches) if (comesBefore(takenCasts, below)) below = takenCasts;
    const news = (below - this.#reported) >>> 0;
    if (news === 0) return;
    // Until a part below says more, there is nothing that this could be gathered with.
    const all = this.#branches.some(({ takenCasts }) => takenCasts === below);
    const due =
      news >= this.#castBatch || this.#bytes >= this.#byteBatch || comesBefore(this.#reported, this.#reportAtOnceUpTo);
    if (!all && !due) return;
    this.#reported = below;
    this.#bytes = 0;
    this.#report(below);
  }
}
