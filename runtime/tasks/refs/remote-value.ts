/** A value that this process owns, and that only stores of other hosts have. */
import type { StoredMemory } from "../../../generated/tasks.js";
import type { Clock } from "../kernel.js";
import { bringValue, type PieceSource } from "../objects/bring-value.js";
import type { Store } from "../objects/copies.js";
import { type InTurn, readerFrom } from "../objects/piece-sources.js";
import type { FileKeeper } from "../objects/stored-file.js";
import type { ValueSources } from "../objects/value-sources.js";
import type { Elsewhere } from "./elsewhere.js";
import type { Result } from "./result.js";

/** The part of a context in the process of the owner. */
export interface RemoteOwner {
  readonly proc: bigint;
  readonly clock: Clock;
  readonly sources: ValueSources;
  readonly inTurn: InTurn;
  /** Counts values that come back. */
  readonly keeper: FileKeeper | undefined;
}

/** The value in the memory of the machine of the first store that has it. */
export interface RemotePlace {
  readonly memory: StoredMemory;
  /** The number of the host. */
  readonly host: number;
}

export class RemoteValue implements Elsewhere {
  readonly #result: Result;
  readonly #owner: RemoteOwner;
  #place: RemotePlace | undefined;
  #isFetching = false;

  constructor(result: Result, owner: RemoteOwner) {
    this.#result = result;
    this.#owner = owner;
  }

  /** The value is at a place, perhaps after it was lost. */
  foundAt(place: RemotePlace): void {
    this.#place = place;
  }

  get memory(): StoredMemory | undefined {
    return this.#place?.memory;
  }

  get host(): number | undefined {
    return this.#place?.host;
  }

  get size(): number | undefined {
    return this.#place?.memory.size;
  }

  lost(): void {
    this.#place = undefined;
  }

  /** The result itself tells the stores that have copies. */
  released(): void {}

  /** The owner itself learns the end of the task. */
  locate(): void {}

  fetch(): void {
    if (this.#isFetching) return;
    this.#isFetching = true;
    const result = this.#result;
    const { clock, keeper } = this.#owner;
    bringValue({ label: result.label, clock, keeper, source: this.#sources() }).then(
      (value) => result.resolve(value, result.contained),
      (error: Error) => result.reject(error),
    );
  }

  #sources(): () => Promise<PieceSource> {
    const { proc, sources, inTurn } = this.#owner;
    const result = this.#result;
    let last: Store | undefined;
    return async () => {
      const { size, head, store } = await sources.find(result, undefined, last);
      if (store === undefined)
        throw new Error(`the result of ${result.label} was made again in the process that reads it`);
      last = store;
      return { size, head, read: readerFrom(store, proc, result.id, inTurn) };
    };
  }
}
