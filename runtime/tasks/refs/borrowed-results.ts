/** The results of other processes to which this process has references. */
import type { ObjectReference, TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import type { ObjectLostError } from "../errors.js";
import type { DropDetector, DroppableReference } from "../kernel.js";
import { tell } from "../tell.js";
import { BorrowedValue, type Borrower } from "./borrowed-value.js";
import type { Result } from "./result.js";

interface Borrowed {
  readonly key: string;
  readonly remote: ObjectReference;
  readonly borrower: TaskOwnerMesh<never>;
}

interface KnownValue {
  readonly value: DroppableReference<BorrowedValue>;
  /** Told when the value has been dropped. */
  readonly held: { dropped(): void };
}

export class BorrowedResults {
  readonly #values = new Map<string, KnownValue>();
  readonly #drops: DropDetector;
  readonly #borrower: () => Borrower;
  #closed: Error | undefined;

  /** @param drops finds results to which this process has no reference any more */
  constructor(drops: DropDetector, borrower: () => Borrower) {
    this.#drops = drops;
    this.#borrower = borrower;
  }

  /**
   * Returns the result of a reference. It is fetched when someone waits for it.
   *
   * @param returned whether the reference has just arrived in the result of a task
   */
  borrow(remote: ObjectReference, borrower: TaskOwnerMesh<never>, returned: boolean): Result {
    const key = `${procsOf(remote.owner)[0]}/${remote.id}`;
    const known = this.#values.get(key)?.value.deref();
    if (known !== undefined) {
      // This process counts once. The owner learns that the reference on its way has arrived.
      known.note(remote);
      if (returned) this.#tellBorrow(remote, borrower, true);
      return known.result;
    }
    // A result that is being fetched stays, because somebody waits for it.
    const value = new BorrowedValue(remote, this.#borrower());
    const held = this.#borrowed({ key, remote, borrower });
    this.#values.set(key, { value: this.#drops.reference(value), held });
    this.#drops.watch(value, held);
    this.#tellBorrow(remote, borrower, returned);
    if (this.#closed !== undefined) value.result.reject(this.#closed);
    return value.result;
  }

  #tellBorrow(remote: ObjectReference, borrower: TaskOwnerMesh<never>, returned: boolean): void {
    const { owner, id } = remote;
    this.#borrower().inTurn(() => tell(owner, () => owner.borrow.broadcast(id, borrower, returned)));
  }

  /**
   * Tasks have ended, with which references to large values may have been dropped. An idle process does not collect them by itself, and its
   * maps would keep the memory of the machine.
   */
  suspectDropped(): void {
    for (const { value, held } of this.#values.values()) {
      if (value.deref()?.result.stored !== undefined) this.#drops.suspectDropped(held);
    }
  }

  /** Drops the values of a process, which has ended or has left the context. */
  ownerLeft(proc: bigint, reason: ObjectLostError): void {
    for (const [key, { value, held }] of this.#values) {
      if (!key.startsWith(`${proc}/`)) continue;
      this.#values.delete(key);
      this.#drops.unwatch(held);
      value.deref()?.result.lose(reason);
    }
  }

  close(reason: Error): void {
    this.#closed = reason;
    for (const { value } of this.#values.values()) value.deref()?.result.reject(reason);
    this.#values.clear();
  }

  /** The closure is made apart from the result, which it would keep otherwise. */
  #borrowed(borrowed: Borrowed): { dropped(): void } {
    return { dropped: () => this.#giveBack(borrowed) };
  }

  #giveBack({ key, remote, borrower }: Borrowed): void {
    const known = this.#values.get(key);
    if (this.#closed !== undefined || known === undefined || known.value.deref() !== undefined) return;
    this.#drops.unwatch(known.held);
    this.#values.delete(key);
    this.#borrower().inTurn(() => tell(remote.owner, () => remote.owner.unborrow.broadcast(remote.id, borrower)));
  }
}
