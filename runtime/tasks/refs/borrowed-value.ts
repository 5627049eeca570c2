/** A value that another process owns: it is opened if it is in the memory of this machine, and brought here otherwise. */
import type { ObjectReference, StoredMemory } from "../../../generated/tasks.js";
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

/** The process that borrows. */
export interface Borrower {
  readonly clock: Clock;
  readonly inTurn: InTurn;
  /** Counts values of which the process becomes the owner. */
  readonly keeper: FileKeeper | undefined;
  /** The store of its host; undefined: it runs on none of the hosts. */
  readonly store: Store | undefined;
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
    const { store, inTurn, clock, keeper } = this.#borrower;
    const { owner, id, label } = this.#remote;
    if (store !== undefined) {
      const memory = await callInTurn(inTurn, () => store.bring.callOne(this.#remote)).catch(unlessLost);
      const opened = memory === null ? undefined : StoredValue.open(memory);
      if (opened !== undefined) return opened;
    }
    return bringValue({ label, clock, keeper, source: sourcesOf({ owner, id, inTurn }) });
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

/** Without the store of its host, a process reads the value for itself. */
function unlessLost(error: Error): null {
  if (error instanceof SupervisionError) return null;
  throw error;
}
