/** A value that this process owns, and that only object stores of other hosts have. */
import type { StoredMemory } from "../../../generated/tasks.js";
import type { Clock } from "../kernel.js";
import { bringValue } from "../objects/bring-value.js";
import { type InTurn, nextSource } from "../objects/piece-sources.js";
import type { ValueSources } from "../objects/value-sources.js";
import type { Elsewhere } from "./elsewhere.js";
import type { Result } from "./result.js";

/** The part of a context in the process of the owner. */
export interface RemoteOwner {
  readonly proc: bigint;
  readonly clock: Clock;
  readonly sources: ValueSources;
  readonly inTurn: InTurn;
}

/** The value in the memory of the machine of the first store that has it. */
export interface RemotePlace {
  readonly memory: StoredMemory;
  /** The number of the host. */
  readonly host: number;
}

export class RemoteValue implements Elsewhere {
  readonly memory: StoredMemory;
  readonly host: number;
  readonly #result: Result;
  readonly #owner: RemoteOwner;
  #isFetching = false;

  constructor(result: Result, { memory, host }: RemotePlace, owner: RemoteOwner) {
    this.memory = memory;
    this.host = host;
    this.#result = result;
    this.#owner = owner;
  }

  get size(): number {
    return this.memory.size;
  }

  locate(): void {}

  fetch(): void {
    if (this.#isFetching) return;
    this.#isFetching = true;
    const result = this.#result;
    const { proc, clock, sources, inTurn } = this.#owner;
    const source = nextSource(
      (failed) => sources.find(result, undefined, failed),
      () => Promise.reject(new Error("the value has come here meanwhile")),
      { owner: proc, id: result.id, inTurn },
    );
    bringValue({ label: result.label, clock, source }).then(
      (value) => result.resolve(value, result.contained),
      (error: Error) => result.reject(error),
    );
  }
}
