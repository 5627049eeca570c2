/** The results of other processes to which this process has references. */
import type { ObjectReference, TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import type { ObjectLostError } from "../errors.js";
import type { DropDetector, DroppableReference } from "../kernel.js";
import { tell } from "../tell.js";
import { BorrowedValue, type Borrower } from "./borrowed-value.js";
import type { Result } from "./result.js";

/** A value that this process has borrowed. It is given back when nothing here refers to it. */
interface KnownValue {
  readonly value: DroppableReference<BorrowedValue>;
  dropped(): void;
}

/** Another process that owns values. */
interface Lender {
  /** All references to its values share one handle. */
  readonly owner: TaskOwnerMesh<never>;
  readonly values: Map<number, KnownValue>;
}

export class BorrowedResults {
  readonly #lenders = new Map<bigint, Lender>();
  readonly #drops: DropDetector;
  readonly #borrower: Borrower;
  #closed: Error | undefined;

  /** @param drops finds results to which this process has no reference any more */
  constructor(drops: DropDetector, borrower: Borrower) {
    this.#drops = drops;
    this.#borrower = borrower;
  }

  /** Returns the handle of an owner that the references to its values share. */
  shared(owner: TaskOwnerMesh<never>): TaskOwnerMesh<never> {
    return this.#lenderOf(owner).owner;
  }

  /**
   * Returns the result of a reference. It is fetched when someone waits for it.
   *
   * @param returned whether the reference has just arrived in the result of a task
   */
  borrow(remote: ObjectReference, borrower: TaskOwnerMesh<never>, returned: boolean): Result {
    const { values } = this.#lenderOf(remote.owner);
    const known = values.get(remote.id)?.value.deref();
    if (known !== undefined) {
      // This process counts once. The owner learns that the reference on its way has arrived.
      known.note(remote);
      if (returned) this.#tellBorrow(remote, borrower, true);
      return known.result;
    }
    // A result that is being fetched stays, because somebody waits for it.
    const value = new BorrowedValue(remote, this.#borrower);
    const held = this.#known(this.#drops.reference(value), remote, borrower);
    values.set(remote.id, held);
    this.#drops.watch(value, held);
    this.#tellBorrow(remote, borrower, returned);
    if (this.#closed !== undefined) value.result.reject(this.#closed);
    return value.result;
  }

  #lenderOf(owner: TaskOwnerMesh<never>): Lender {
    const proc = procsOf(owner)[0]!;
    let known = this.#lenders.get(proc);
    if (known === undefined) {
      known = { owner, values: new Map() };
      this.#lenders.set(proc, known);
    }
    return known;
  }

  #tellBorrow(remote: ObjectReference, borrower: TaskOwnerMesh<never>, returned: boolean): void {
    const { owner, id } = remote;
    this.#borrower.inTurn(() => tell(owner, () => owner.borrow.broadcast(id, borrower, returned)));
  }

  /**
   * Tasks have ended, with which references to large values may have been dropped. An idle process does not collect them by itself, and its
   * maps would keep the memory of the machine.
   */
  suspectDropped(): void {
    for (const known of this.#all()) {
      if (known.value.deref()?.result.stored !== undefined) this.#drops.suspectDropped(known);
    }
  }

  /** Drops the values of a process, which has ended or has left the context. */
  ownerLeft(proc: bigint, reason: ObjectLostError): void {
    const lender = this.#lenders.get(proc);
    this.#lenders.delete(proc);
    for (const known of lender?.values.values() ?? []) {
      this.#drops.unwatch(known);
      known.value.deref()?.result.lose(reason);
    }
  }

  close(reason: Error): void {
    this.#closed = reason;
    for (const { value } of this.#all()) value.deref()?.result.reject(reason);
    this.#lenders.clear();
  }

  *#all(): Generator<KnownValue> {
    for (const { values } of this.#lenders.values()) yield* values.values();
  }

  /** The closure is made apart from the value, which it would keep otherwise. */
  #known(
    value: DroppableReference<BorrowedValue>,
    remote: ObjectReference,
    borrower: TaskOwnerMesh<never>,
  ): KnownValue {
    return { value, dropped: () => this.#giveBack(remote, borrower) };
  }

  #giveBack({ owner, id }: ObjectReference, borrower: TaskOwnerMesh<never>): void {
    const values = this.#lenders.get(procsOf(owner)[0]!)?.values;
    const known = values?.get(id);
    if (this.#closed !== undefined || known === undefined || known.value.deref() !== undefined) return;
    this.#drops.unwatch(known);
    values?.delete(id);
    this.#borrower.inTurn(() => tell(owner, () => owner.unborrow.broadcast(id, borrower)));
  }
}
