/** The free worker processes of a host, and the free resources of the host and of its bundles. */
import type { Capacity, Share } from "./capacity.js";
import type { Amounts } from "./resources.js";

/** The needs of a request, and its place. */
export interface Need {
  readonly amounts: Amounts;
  /** The bundle whose resources are used; empty: those of the host that belong to no bundle. */
  readonly place: string;
  /** Whether one of the worker processes is used. */
  readonly usesWorker: boolean;
}

/** The name that stands for worker processes among the resources that are lacking. */
export const workerProcesses = "worker processes";

export class Room {
  #workers: number;
  readonly #places: Map<string, Capacity>;
  /** The places that are shared with the room of which this is a copy, and must be copied before they change. */
  readonly #shared = new Set<string>();

  constructor(workers: number, places: ReadonlyMap<string, Capacity>) {
    this.#workers = workers;
    this.#places = new Map(places);
  }

  /** Returns the capacity of a place; undefined if there is no such place. */
  at(place: string): Capacity | undefined {
    return this.#places.get(place);
  }

  /** Returns a room that changes independently. */
  copy(): Room {
    const copy = new Room(this.#workers, this.#places);
    for (const place of this.#places.keys()) copy.#shared.add(place);
    return copy;
  }

  open(place: string, capacity: Capacity): void {
    this.#places.set(place, capacity);
  }

  close(place: string): void {
    this.#places.delete(place);
  }

  addWorkers(count: number): void {
    this.#workers += count;
  }

  fits({ amounts, place, usesWorker }: Need): boolean {
    return (!usesWorker || this.#workers > 0) && this.#places.get(place)?.fits(amounts) === true;
  }

  /** Returns the names of what is not free. */
  lacks({ amounts, place, usesWorker }: Need): string[] {
    const lacking = this.#places.get(place)?.lacks(amounts) ?? [];
    return usesWorker && this.#workers <= 0 ? [workerProcesses, ...lacking] : lacking;
  }

  take({ amounts, place, usesWorker }: Need): Share {
    if (usesWorker) this.#workers--;
    return this.#writable(place)!.take(amounts);
  }

  retake({ place, usesWorker }: Need, share: Share): void {
    if (usesWorker) this.#workers--;
    this.#writable(place)?.retake(share);
  }

  give({ place, usesWorker }: Need, share: Share): void {
    if (usesWorker) this.#workers++;
    this.#writable(place)?.give(share);
  }

  claim({ amounts, place, usesWorker }: Need): void {
    if (usesWorker) this.#workers--;
    this.#writable(place)?.claim(amounts);
  }

  #writable(place: string): Capacity | undefined {
    const capacity = this.#places.get(place);
    if (capacity === undefined || !this.#shared.delete(place)) return capacity;
    const own = capacity.copy();
    this.#places.set(place, own);
    return own;
  }
}
