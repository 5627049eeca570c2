/**
 * Drop detection: finds out that nothing refers to a value any more. JavaScript reports this only when the garbage
 * collector runs, and the collector may never run in an idle process. If a caller waits for something that may have
 * been dropped, this file therefore starts a collection: rarely, and for at most a fiftieth of the time.
 */
import { lazyModules } from "../../lazy-modules.js";
import type { Clock } from "../../link/clock.js";

/**
 * The time after which a value is first suspected of having been dropped, in milliseconds. The next suspicions follow
 * after ten times that time each.
 */
const FIRST_MS = 100;
const NEXT_FACTOR = 10;
/** The extra age of a suspect for each MiB of the heap, in milliseconds, because collecting a large heap takes long. */
const DELAY_PER_MIB_MS = 10;
const MIB = 1024 * 1024;
/** After a collection that took t ms, no other collection starts for this many times t. */
const QUIET_FACTOR = 50;
const PERIOD_MS = 100;

interface Suspect {
  /** The time until the next collection for this suspect, and when that collection is due, in milliseconds. */
  delay: number;
  due: number;
}

let collect: (() => void) | undefined;

/** Returns the garbage collector of V8. A call takes time in proportion to the heap. */
export function garbageCollector(): () => void {
  collect ??= globalThis.gc ?? exposedCollector();
  return collect;
}

function exposedCollector(): () => void {
  const { setFlagsFromString } = lazyModules.v8;
  setFlagsFromString("--expose-gc");
  const exposed = lazyModules.vm.runInNewContext("gc") as () => void;
  // V8 rejects compiled code of processes with other flags, and this process may store code for later ones.
  setFlagsFromString("--no-expose-gc");
  return exposed;
}

/** A reference to a value that may have been collected. */
export interface DroppableReference<T extends object> {
  deref(): T | undefined;
}

/** Detects that nothing refers to a value any more. */
export interface DropDetector {
  /** Calls `held.dropped` when `value` has been collected. */
  watch(value: object, held: { dropped(): void }): void;
  unwatch(held: { dropped(): void }): void;
  /** Tells the detector that a caller waits for something that belongs to `held`. */
  suspectDropped(held: object): void;
  /** Returns a reference that does not keep `value` alive. */
  reference<T extends object>(value: T): DroppableReference<T>;
}

/** A detector that never reports a drop. Deterministic runs need it, because garbage collection cannot be replayed. */
export const neverDropped: DropDetector = {
  watch() {},
  unwatch() {},
  suspectDropped() {},
  reference: (value) => ({ deref: () => value }),
};

export class DropWatch implements DropDetector {
  readonly #clock: Clock;
  readonly #suspects = new Map<object, Suspect>();
  readonly #registry = new FinalizationRegistry<{ dropped(): void }>((held) => held.dropped());
  #isArmed = false;
  #quietUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(value: object, held: { dropped(): void }): void {
    this.#registry.register(value, held, held);
  }

  unwatch(held: { dropped(): void }): void {
    this.#registry.unregister(held);
    this.#suspects.delete(held);
  }

  suspectDropped(held: object): void {
    this.#suspects.set(held, { delay: FIRST_MS, due: this.#clock.now() + FIRST_MS });
    this.#arm();
  }

  reference<T extends object>(value: T): DroppableReference<T> {
    return new WeakRef(value);
  }

  #arm(): void {
    if (this.#isArmed || this.#suspects.size === 0) return;
    this.#isArmed = true;
    this.#clock.after(PERIOD_MS, () => {
      this.#isArmed = false;
      this.#check();
      this.#arm();
    });
  }

  #check(): void {
    const start = this.#clock.now();
    if (start < this.#quietUntil) return;
    const heap = lazyModules.v8.getHeapStatistics().used_heap_size / MIB;
    const due = [...this.#suspects.values()].filter((suspect) => suspect.due + heap * DELAY_PER_MIB_MS <= start);
    if (due.length === 0) return;
    garbageCollector()();
    const end = this.#clock.now();
    this.#quietUntil = end + (end - start) * QUIET_FACTOR;
    for (const suspect of due) {
      suspect.delay *= NEXT_FACTOR;
      suspect.due = end + suspect.delay;
    }
  }
}
