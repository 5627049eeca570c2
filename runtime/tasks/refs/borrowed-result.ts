/** A result of another process: it is fetched when someone waits for it, and its size can be known before. */
import type { StoredMemory } from "../../../generated/tasks.js";
import { Result } from "./result.js";

/** The ways to ask the owner. Each function is called once at most. */
export interface BorrowedSources {
  /** Gets the value. */
  readonly fetch: () => void;
  /** Gets the size of a large value, or the value of a small one. */
  readonly locate: () => void;
}

export class BorrowedResult extends Result {
  #locate: (() => void) | undefined;
  #waiting: (() => void)[] = [];
  #sizeAtOwner: number | undefined;
  /** The memory that has the value, if it is known. It can be that of another machine. */
  place: StoredMemory | undefined;

  constructor(label: string, { fetch, locate }: BorrowedSources) {
    super(0, label, fetch);
    this.#locate = locate;
  }

  /** The number of encoded bytes of a value, which may be at its owner; undefined if it is not known. */
  override get size(): number | undefined {
    return super.size ?? this.#sizeAtOwner;
  }

  /** The number of encoded bytes of a large value that its owner has, and this process has not. */
  get sizeAtOwner(): number | undefined {
    return this.isSettled ? undefined : this.#sizeAtOwner;
  }

  /** Calls `listener` when the value or error is here, or when the owner has a value whose size is known. */
  whenLocated(listener: () => void): void {
    if (this.isSettled || this.#sizeAtOwner !== undefined) {
      listener();
      return;
    }
    this.#waiting.push(listener);
    const locate = this.#locate;
    this.#locate = undefined;
    locate?.();
  }

  /** The owner has the value. @param value the value if it is small */
  located(size: number, value: Uint8Array | undefined): void {
    if (value === undefined) this.#sizeAtOwner = size;
    else this.resolve(value);
    this.#tellWaiting();
  }

  override reject(error: Error): void {
    super.reject(error);
    this.#tellWaiting();
  }

  #tellWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const listener of waiting) listener();
  }
}
