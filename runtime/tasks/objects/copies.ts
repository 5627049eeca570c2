/**
 * The object stores that have a value, or get it now, as the owner of the value knows them. Each reader is sent to the place with the
 * fewest readers. A store from which others read need not be complete, so that a value that many hosts read goes from each host to the
 * next, and all of them have it in little more than the time of one transfer.
 */
import type { ObjectStoreMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";

export type Store = ObjectStoreMesh<never>;

/** A place from which pieces of a value can be read. */
interface Place {
  /** The number of readers that have been sent here and have not ended. */
  readers: number;
  /** The number of readers that have failed here. */
  failures: number;
}

/** The copy of an object store. */
export interface StoreCopy extends Place {
  readonly store: Store;
  isComplete: boolean;
  /** The place from which it reads. Undefined: it does not read. */
  from: Place | undefined;
}

export class Copies {
  readonly #stores = new Map<bigint, StoreCopy>();
  readonly #owner: Place = { readers: 0, failures: 0 };
  readonly #free: (store: Store) => void;

  /** @param free tells a store that nobody needs its copy any more */
  constructor(free: (store: Store) => void) {
    this.#free = free;
  }

  /** The copies, complete or not. */
  get all(): readonly StoreCopy[] {
    return [...this.#stores.values()];
  }

  /** Notes that a store has the whole value. */
  complete(store: Store): void {
    const copy = this.#copyOf(store);
    copy.isComplete = true;
    leave(copy);
  }

  /** Forgets a copy, because its store has ended or does not have it any more. */
  lost({ store }: StoreCopy): void {
    this.#stores.delete(keyOf(store));
  }

  /** Frees all copies. */
  drop(): void {
    const copies = this.all;
    this.#stores.clear();
    for (const { store } of copies) this.#free(store);
  }

  /** Notes that a reader could not read from a store. */
  failed(store: Store): void {
    const copy = this.#stores.get(keyOf(store));
    if (copy !== undefined) copy.failures++;
  }

  /**
   * Chooses the place from which a reader reads.
   *
   * @param reader the store that reads; undefined: a process reads for itself, and is not counted
   * @param ownerHas whether the owner itself has the value
   * @returns undefined if no place has all of the value
   */
  choose(reader: Store | undefined, ownerHas: boolean): StoreCopy | "owner" | undefined {
    const own = reader === undefined ? undefined : this.#copyOf(reader);
    if (own !== undefined) leave(own);
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
    return best === this.#owner ? "owner" : (best as StoreCopy);
  }

  /** Returns whether a store has the value or gets it, and does not read what `reader` reads itself. */
  #isComing(copy: StoreCopy, reader: StoreCopy | undefined): boolean {
    for (let at: Place | undefined = copy; at !== undefined; at = (at as StoreCopy).from) {
      if (at === reader) return false;
      if (at === this.#owner || (at as StoreCopy).isComplete) return true;
    }
    return false;
  }

  #copyOf(store: Store): StoreCopy {
    const key = keyOf(store);
    let copy = this.#stores.get(key);
    if (copy === undefined) {
      copy = { store, isComplete: false, from: undefined, readers: 0, failures: 0 };
      this.#stores.set(key, copy);
    }
    return copy;
  }
}

function leave(copy: StoreCopy): void {
  if (copy.from !== undefined) copy.from.readers--;
  copy.from = undefined;
}

function isBetter(one: Place, other: Place): boolean {
  return one.failures === other.failures ? one.readers < other.readers : one.failures < other.failures;
}

function keyOf(store: Store): bigint {
  return procsOf(store)[0]!;
}
