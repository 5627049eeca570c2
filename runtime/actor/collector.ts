/**
 * Finding out that a value was dropped. JavaScript tells only when the garbage collector comes by, and it may never come
 * by in a process that has nothing to do: so where a caller waits for something that may have been dropped, the collector
 * is asked to, seldom, and never for more than a fiftieth of the time.
 */
import { builtins } from "../builtins.js";
import type { Clock } from "../link/clock.js";

/** When a value is first suspected of having been dropped, in milliseconds; then ten times later, and so on. */
const FIRST_MS = 100;
const NEXT_FACTOR = 10;
/** A large heap takes long to collect: for each MiB of it, a suspect must have lasted so many milliseconds. */
const PER_MIB_MS = 10;
const MIB = 1024 * 1024;
/** A collection of t ms is followed by none for so many times t. */
const SHARE = 50;
const PERIOD_MS = 100;

interface Suspect {
  /** How long it may last until the next collection, and when that is due. */
  delay: number;
  due: number;
}

let collect: (() => void) | undefined;

function collector(): () => void {
  if (collect === undefined) {
    builtins.v8.setFlagsFromString("--expose-gc");
    collect = builtins.vm.runInNewContext("gc") as () => void;
  }
  return collect;
}

/** A value that may be gone. */
export interface Reference<T extends object> {
  deref(): T | undefined;
}

/** How it is found out that nobody has a value any more. */
export interface Drops {
  /** `held.dropped` is called when `value` has been collected. */
  watch(value: object, held: { dropped(): void }): void;
  unwatch(held: { dropped(): void }): void;
  /** Somebody waits for what belongs to `held`. */
  suspect(held: object): void;
  /** What does not keep `value`. */
  reference<T extends object>(value: T): Reference<T>;
}

/** Never: where everything that happens must happen again, the garbage collector has no say. */
export const neverDropped: Drops = {
  watch() {},
  unwatch() {},
  suspect() {},
  reference: (value) => ({ deref: () => value }),
};

export class DropWatch implements Drops {
  readonly #clock: Clock;
  readonly #suspects = new Map<object, Suspect>();
  readonly #registry = new FinalizationRegistry<{ dropped(): void }>((held) => held.dropped());
  #armed = false;
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

  suspect(held: object): void {
    this.#suspects.set(held, { delay: FIRST_MS, due: this.#clock.now() + FIRST_MS });
    this.#arm();
  }

  reference<T extends object>(value: T): Reference<T> {
    return new WeakRef(value);
  }

  #arm(): void {
    if (this.#armed || this.#suspects.size === 0) return;
    this.#armed = true;
    this.#clock.after(PERIOD_MS, () => {
      this.#armed = false;
      this.#check();
      this.#arm();
    });
  }

  #check(): void {
    const start = this.#clock.now();
    if (start < this.#quietUntil) return;
    const heap = builtins.v8.getHeapStatistics().used_heap_size / MIB;
    const due = [...this.#suspects.values()].filter((suspect) => suspect.due + heap * PER_MIB_MS <= start);
    if (due.length === 0) return;
    collector()();
    const end = this.#clock.now();
    this.#quietUntil = end + (end - start) * SHARE;
    for (const suspect of due) {
      suspect.delay *= NEXT_FACTOR;
      suspect.due = end + suspect.delay;
    }
  }
}
