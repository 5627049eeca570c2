/**
 * Finding out that a value was dropped. JavaScript tells only when the garbage collector comes by, and it may never come
 * by in a process that has nothing to do: so where a caller waits for something that may have been dropped, the collector
 * is asked to, seldom, and never for more than a fiftieth of the time.
 */
import { lazyModules } from "../../lazy-modules.js";
import type { Clock } from "../../link/clock.js";

/** When a value is first suspected of having been dropped, in milliseconds; then ten times later, and so on. */
const FIRST_MS = 100;
const NEXT_FACTOR = 10;
/** A large heap takes long to collect: for each MiB of it, a suspect must have lasted so many milliseconds. */
const DELAY_PER_MIB_MS = 10;
const MIB = 1024 * 1024;
/** A collection of t ms is followed by none for so many times t. */
const QUIET_FACTOR = 50;
const PERIOD_MS = 100;

interface Suspect {
  /** How long it may last until the next collection, and when that is due. */
  delay: number;
  due: number;
}

let collect: (() => void) | undefined;

function garbageCollector(): () => void {
  if (collect === undefined) {
    lazyModules.v8.setFlagsFromString("--expose-gc");
    collect = lazyModules.vm.runInNewContext("gc") as () => void;
  }
  return collect;
}

/** A value that may be gone. */
export interface DroppableReference<T extends object> {
  deref(): T | undefined;
}

/** How it is found out that nobody has a value any more. */
export interface DropDetector {
  /** `held.dropped` is called when `value` has been collected. */
  watch(value: object, held: { dropped(): void }): void;
  unwatch(held: { dropped(): void }): void;
  /** Somebody waits for what belongs to `held`. */
  suspectDropped(held: object): void;
  /** What does not keep `value`. */
  reference<T extends object>(value: T): DroppableReference<T>;
}

/** Never: where everything that happens must happen again, the garbage collector has no say. */
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
