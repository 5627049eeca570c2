/**
 * Counts the casts that all actors of a part of a tree have taken, which means that the casts have had credit. The root
 * limits the number of casts that it does not know to be taken. The count is reported in batches: procs without
 * branches report after a quarter of the root's limit, and procs above them pass on what they hear.
 */
import { comesBefore } from "./cast-frame.js";

const REPORT_BATCHES = 4;

/** A branch, with the number of casts that it has taken. */
interface CountedBranch {
  readonly takenCasts: number;
}

interface UntakenCast {
  /** The number of actors here that have not taken the cast. */
  left: number;
  readonly size: number;
}

export class TakenCounter {
  readonly #branches: readonly CountedBranch[];
  readonly #report: (casts: number) => void;
  readonly #castBatch: number;
  readonly #byteBatch: number;
  /** The casts that not all actors here have taken, and the casts after them. */
  #untaken: UntakenCast[] = [];
  /** The number of casts that all actors here have taken. */
  #takenHere = 0;
  #reported = 0;
  /** The number of bytes of casts that were taken here and not reported. */
  #bytes = 0;
  /** The number of casts up to which each change is reported at once. */
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

  /**
   * Adds a cast that has come.
   * @returns a function to call for each actor that has taken the cast
   */
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

  /** Reports the casts that have come until now as soon as they are taken. */
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
    // No more can be batched until a branch reports more.
    const all = this.#branches.some(({ takenCasts }) => takenCasts === below);
    const due =
      news >= this.#castBatch || this.#bytes >= this.#byteBatch || comesBefore(this.#reported, this.#reportAtOnceUpTo);
    if (!all && !due) return;
    this.#reported = below;
    this.#bytes = 0;
    this.#report(below);
  }
}
