/**
 * The stores that have a value, or get it now, as the owner of the value knows them. Each reader is sent to the place with the
 * fewest readers. A store from which others read need not be complete, so that a value that many hosts read goes from each host to the
 * next, and all of them have it in little more than the time of one transfer.
 */
import type { TaskStoreMesh } from "../../../generated/tasks.js";

export type Store = TaskStoreMesh<never>;

/** A place from which pieces of a value can be read. */
interface Place {
  /** The number of readers that have been sent here and have not ended. */
  readers: number;
  /** The number of readers that have failed here. */
  failures: number;
}

/** The copy of a store. */
export interface StoreCopy<S = Store> extends Place {
  readonly store: S;
  isComplete: boolean;
  /** The place from which it reads. Undefined: it does not read. */
  from: Place | undefined;
}

/** The stores of a context, as one owner knows them. */
export interface KnownStores<S = Store> {
  /** Returns the number of the process of a store. */
  keyOf(store: S): bigint;
  /** Tells a store that nobody needs its copy any more. */
  free(store: S): void;
  /** Returns whether the host of a store has ended. */
  hasEnded(store: S): boolean;
}

export class Copies<S = Store> {
  readonly #stores = new Map<bigint, StoreCopy<S>>();
  readonly #owner: Place = { readers: 0, failures: 0 };
  readonly #known: KnownStores<S>;

  constructor(known: KnownStores<S>) {
    this.#known = known;
  }

  /** The copies, complete or not. */
  get all(): readonly StoreCopy<S>[] {
    return [...this.#stores.values()];
  }

  /** Notes that a store has the whole value. */
  complete(store: S): void {
    const copy = this.#copyOf(store);
    copy.isComplete = true;
    leave(copy);
  }

  /** Forgets a copy, because its store has ended or does not have it any more. */
  lost({ store }: StoreCopy<S>): void {
    this.#stores.delete(this.#known.keyOf(store));
  }

  /** Frees all copies. */
  drop(): void {
    const copies = this.all;
    this.#stores.clear();
    for (const { store } of copies) this.#known.free(store);
  }

  /** Notes that a reader could not read from a store. */
  failed(store: S): void {
    const copy = this.#stores.get(this.#known.keyOf(store));
    if (copy !== undefined) copy.failures++;
  }

  /**
   * Chooses the place from which a reader reads.
   *
   * @param reader the store that reads; undefined: a process reads for itself, and is not counted
   * @param ownerHas whether the owner itself has the value
   * @returns undefined if no place has all of the value
   */
  choose(reader: S | undefined, ownerHas: boolean): StoreCopy<S> | "owner" | undefined {
    const own = reader === undefined ? undefined : this.#copyOf(reader);
    if (own !== undefined) leave(own);
    // The value was made again on its host after it had asked.
    if (own?.isComplete === true) return own;
    for (const copy of this.all) if (this.#known.hasEnded(copy.store)) this.lost(copy);
    const places: Place[] = this.all.filter((copy) => copy !== own && this.#isComing(copy, own));
    // Other hosts first: the owner has other things to do.
    if (ownerHas) places.push(this.#owner);
    const [first, ...others] = places;
    if (first === undefined) return undefined;
    const best = others.reduce((one, other) => (isBetter(other, one) ? other : one), first);
    if (own !== undefined) {
      own.isComplete = false;
      own.from = best;
      best.readers++;
    }
    return best === this.#owner ? "owner" : (best as StoreCopy<S>);
  }

  /** Returns whether a store has the value or gets it, and does not read what `reader` reads itself. */
  #isComing(copy: StoreCopy<S>, reader: StoreCopy<S> | undefined): boolean {
    for (let at: Place | undefined = copy; at !== undefined; at = (at as StoreCopy<S>).from) {
      if (at === reader) return false;
      if (at === this.#owner || (at as StoreCopy<S>).isComplete) return true;
    }
    return false;
  }

  #copyOf(store: S): StoreCopy<S> {
    const key = this.#known.keyOf(store);
    let copy = this.#stores.get(key);
    if (copy === undefined) {
      copy = { store, isComplete: false, from: undefined, readers: 0, failures: 0 };
      this.#stores.set(key, copy);
    }
    return copy;
  }
}

function leave(copy: StoreCopy<unknown>): void {
  if (copy.from !== undefined) copy.from.readers--;
  copy.from = undefined;
}

function isBetter(one: Place, other: Place): boolean {
  return one.failures === other.failures ? one.readers < other.readers : one.failures < other.failures;
}
