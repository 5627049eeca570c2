/** A value that another process owns: it is opened if it is in the memory of this machine, and brought here otherwise. */
import type { ObjectReference, StoredMemory, TaskOwnerMesh } from "../../../generated/tasks.js";
import { SupervisionError } from "../../index.js";
import type { Clock } from "../kernel.js";
import { bringValue } from "../objects/bring-value.js";
import type { Store } from "../objects/copies.js";
import type { HeldValue } from "../objects/held-value.js";
import { callInTurn, type InTurn, sourcesOf } from "../objects/piece-sources.js";
import type { FileKeeper } from "../objects/stored-file.js";
import { MIN_STORED_BYTES, StoredValue } from "../objects/stored-value.js";
import type { Elsewhere } from "./elsewhere.js";
import { explainLoss } from "./explain-loss.js";
import { Result } from "./result.js";

/**
 * The size in bytes above which a result that is an argument goes from its owner to the worker, and not through this process.
 * Smaller ones come with the answer of the owner, which is awaited anyway.
 */
const LARGE_BYTES = MIN_STORED_BYTES;

/** The number of stores that are asked, each after the one before has ended. */
const MAX_STORES = 5;

/**
 * Returns the store that brings the values of a process to this machine; undefined: this process reads them for itself.
 *
 * @param failed the store that was returned before, and that has ended; undefined: none has
 */
export type StoreFinder = (owner: TaskOwnerMesh<never>, failed: Store | undefined) => Promise<Store | undefined>;

/** The process that borrows. */
export interface Borrower {
  readonly clock: Clock;
  readonly inTurn: InTurn;
  /** Counts values of which the process becomes the owner. */
  readonly keeper: FileKeeper | undefined;
  readonly storeFor: StoreFinder;
}

export class BorrowedValue implements Elsewhere {
  readonly result: Result;
  readonly #remote: ObjectReference;
  readonly #borrower: Borrower;
  readonly #held: { released(): void };
  readonly host: number | undefined;
  size: number | undefined;
  memory: StoredMemory | undefined;
  #isLocating = false;
  #hasLocated = false;
  #isFetching = false;

  /** @param held told when the value is released */
  constructor(remote: ObjectReference, borrower: Borrower, held: { released(): void }) {
    this.#remote = remote;
    this.#borrower = borrower;
    this.#held = held;
    this.host = remote.host;
    this.result = new Result(0, remote.label, this);
    this.note(remote);
  }

  /** Notes what a reference says about its value. */
  note({ size, stored }: Pick<ObjectReference, "size" | "stored">): void {
    this.memory ??= stored;
    if (size !== undefined && size > LARGE_BYTES) this.#located(size);
  }

  #located(size: number): void {
    this.size = size;
    this.result.located(this);
  }

  /** Its owner says where it is when it has been made again. */
  lost(): void {}

  released(): void {
    this.#held.released();
  }

  locate(): void {
    if (this.#isLocating) return;
    this.#isLocating = true;
    const { owner, id } = this.#remote;
    callInTurn(this.#borrower.inTurn, () => owner.locate.callOne(id, LARGE_BYTES)).then(
      ({ size, value, stored }) => {
        this.#hasLocated = true;
        this.memory = stored ?? this.memory;
        if (value === undefined) this.#located(size);
        else this.result.resolve(value);
      },
      (error: Error) => this.#fail(error),
    );
  }

  fetch(): void {
    if (this.#isFetching || this.#openHere()) return;
    // The owner may have it in the memory of this machine, or somewhere else than the reference says.
    if (!this.#hasLocated) {
      this.locate();
      return;
    }
    this.#isFetching = true;
    this.#bring().then(
      (value) => this.result.resolve(value),
      (error: Error) => this.#fail(error),
    );
  }

  async #bring(): Promise<HeldValue> {
    const { inTurn, clock, keeper } = this.#borrower;
    const { owner, id, label } = this.#remote;
    const memory = await this.#askStores();
    const opened = memory === undefined ? undefined : StoredValue.open(memory);
    if (opened !== undefined) return opened;
    return bringValue({ label, clock, keeper, source: sourcesOf({ owner, id, inTurn }) });
  }

  /** Lets a store of this machine bring the value. Returns its place; undefined: no store can bring it. */
  async #askStores(): Promise<StoredMemory | undefined> {
    const { inTurn, storeFor } = this.#borrower;
    let failed: Store | undefined;
    for (let tries = 0; tries < MAX_STORES; tries++) {
      const store = await storeFor(this.#remote.owner, failed);
      if (store === undefined) return undefined;
      try {
        return (await callInTurn(inTurn, () => store.bring.callOne(this.#remote))) ?? undefined;
      } catch (error) {
        if (!(error instanceof SupervisionError)) throw error;
        failed = store;
      }
    }
    return undefined;
  }

  /** Opens the value if it is in the memory of this machine. Returns whether it is. */
  #openHere(): boolean {
    const opened = this.memory && StoredValue.open(this.memory);
    if (opened === undefined) return false;
    this.result.resolve(opened);
    return true;
  }

  #fail(error: Error): void {
    this.result.reject(explainLoss(this.#remote.label, error));
  }
}
