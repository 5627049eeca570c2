/**
 * How many casts have been taken, that is, have had credit with all actors of a part of a tree: what a root may send is
 * bounded by what it does not know to be taken. Told in batches: those at the ends of the tree wait until a quarter of
 * what the root allows has come together, those above pass on what they hear.
 */
import type { Branch } from "./branch.js";
import { before } from "./cast-frame.js";

const BATCHES = 4;

interface Waiting {
  /** Actors here that have not taken it. */
  left: number;
  readonly size: number;
}

export class Taken {
  readonly #branches: readonly Branch[];
  readonly #tell: (casts: number) => void;
  readonly #castBatch: number;
  readonly #byteBatch: number;
  /** Casts that not all actors here have taken, or that came after one of those. */
  #waiting: Waiting[] = [];
  /** Taken by all actors here. */
  #here = 0;
  #told = 0;
  /** Bytes of what was taken here and not told. */
  #bytes = 0;
  /** Up to here everything is told at once. */
  #urgent = 0;

  constructor(
    window: { readonly casts: number; readonly bytes: number },
    branches: readonly Branch[],
    tell: (casts: number) => void,
  ) {
    this.#branches = branches;
    this.#tell = tell;
    this.#castBatch = Math.max(1, Math.floor(window.casts / BATCHES));
    this.#byteBatch = Math.max(1, Math.floor(window.bytes / BATCHES));
  }

  /** A cast has come. @returns what to call for each actor that has taken it */
  add(actors: number, size: number): () => void {
    const waiting = { left: actors, size };
    this.#waiting.push(waiting);
    this.#advance();
    return () => {
      waiting.left--;
      this.#advance();
    };
  }

  /** A part below has taken so many. */
  below(branch: Branch, casts: number): void {
    branch.taken = casts;
    this.#tellIfDue();
  }

  /** What has come until now is told as soon as it has been taken. */
  flush(): void {
    this.#urgent = (this.#here + this.#waiting.length) >>> 0;
    this.#tellIfDue();
  }

  #advance(): void {
    let passed = 0;
    for (const { left, size } of this.#waiting) {
      if (left > 0) break;
      passed++;
      this.#bytes += size;
    }
    if (passed === 0) return;
    this.#waiting.splice(0, passed);
    this.#here = (this.#here + passed) >>> 0;
    this.#tellIfDue();
  }

  #tellIfDue(): void {
    let below = this.#here;
    for (const { taken } of this.#branches) if (before(taken, below)) below = taken;
    const news = (below - this.#told) >>> 0;
    if (news === 0) return;
    // Until a part below says more, there is nothing that this could be gathered with.
    const all = this.#branches.some(({ taken }) => taken === below);
    const due = news >= this.#castBatch || this.#bytes >= this.#byteBatch || before(this.#told, this.#urgent);
    if (!all && !due) return;
    this.#told = below;
    this.#bytes = 0;
    this.#tell(below);
  }
}
