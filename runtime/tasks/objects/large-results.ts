/** The large results that this process owns, for reports. It keeps none of them. */
import type { ObjectEntry } from "../../../generated/tasks.js";
import type { DropDetector, DroppableReference } from "../kernel.js";
import type { Result } from "../refs/result.js";

/** The number of results from which on those that have been collected are looked for. */
const MIN_SWEEP = 1000;

export class LargeResults {
  readonly #drops: DropDetector;
  readonly #results = new Map<number, DroppableReference<Result>>();
  #sweepAt = MIN_SWEEP;

  constructor(drops: DropDetector) {
    this.#drops = drops;
  }

  /** Adds a result that has a large value, here or on other hosts. */
  add(result: Result): void {
    this.#results.set(result.id, this.#drops.reference(result));
    if (this.#results.size < this.#sweepAt) return;
    for (const [id, known] of this.#results) if (known.deref() === undefined) this.#results.delete(id);
    this.#sweepAt = Math.max(MIN_SWEEP, this.#results.size * 2);
  }

  /** @param borrowersOf returns the number of other processes that have references to the result with a number */
  list(borrowersOf: (id: number) => number): ObjectEntry[] {
    const entries: ObjectEntry[] = [];
    for (const [id, known] of this.#results) {
      const result = known.deref();
      const size = result?.size;
      if (result === undefined || size === undefined) continue;
      const { label, copies } = result;
      const entry = {
        label,
        size,
        place: placeOf(result),
        copies: copies?.all.length ?? 0,
        borrowers: borrowersOf(id),
      };
      entries.push(entry);
    }
    return entries;
  }
}

function placeOf({ value, stored }: Result): ObjectEntry["place"] {
  if (value === undefined) return "hosts";
  if (stored === undefined) return "heap";
  return stored.memory?.disk === true ? "disk" : "memory";
}
