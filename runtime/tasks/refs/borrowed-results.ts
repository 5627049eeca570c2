/** The results of other processes to which this process has references. */
import type { ObjectReference, TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { BackpressureError } from "../../index.js";
import type { ObjectLostError } from "../errors.js";
import { callForAnswer, type DropDetector, type DroppableReference } from "../kernel.js";
import { tell } from "../tell.js";
import { BorrowAcknowledgements } from "./borrow-acknowledgements.js";
import { BorrowedValue, type Borrower } from "./borrowed-value.js";
import type { Result } from "./result.js";

/** The time in ms after which a borrow is told again to an owner that was too busy. */
const AGAIN_MS = 5;

/** A value that this process has borrowed. It is given back when nothing here refers to it, or when a reference to it is released. */
class KnownValue {
  readonly remote: ObjectReference;
  readonly borrower: TaskOwnerMesh<never>;
  value: DroppableReference<BorrowedValue> | undefined;
  readonly #giveBack: (known: KnownValue) => void;

  constructor(remote: ObjectReference, borrower: TaskOwnerMesh<never>, giveBack: (known: KnownValue) => void) {
    this.remote = remote;
    this.borrower = borrower;
    this.#giveBack = giveBack;
  }

  get result(): Result | undefined {
    return this.value?.deref()?.result;
  }

  dropped(): void {
    this.#giveBack(this);
  }

  released(): void {
    this.#giveBack(this);
  }
}

/** Another process that owns values. */
interface Lender {
  /** All references to its values share one handle. */
  readonly owner: TaskOwnerMesh<never>;
  readonly values: Map<number, KnownValue>;
  /** The numbers of results of tasks with references to its values that their receivers have not borrowed yet. */
  readonly lent: Map<number, number>;
}

export class BorrowedResults {
  readonly #lenders = new Map<bigint, Lender>();
  readonly #drops: DropDetector;
  readonly #borrower: Borrower;
  /** The borrows of which owners do not know yet. */
  readonly acknowledgements = new BorrowAcknowledgements();
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
    const before = values.get(remote.id)?.value?.deref();
    if (before !== undefined) {
      // This process counts once. The owner learns that the reference on its way has arrived.
      before.note(remote);
      if (returned) this.#tellBorrow(remote, borrower, true);
      return before.result;
    }
    // A result that is being fetched stays, because somebody waits for it.
    const known = new KnownValue(remote, borrower, this.#giveBack);
    const value = new BorrowedValue(remote, this.#borrower, known);
    known.value = this.#drops.reference(value);
    values.set(remote.id, known);
    this.#drops.watch(value, known);
    this.#tellBorrow(remote, borrower, returned);
    if (this.#closed !== undefined) value.result.reject(this.#closed);
    return value.result;
  }

  #lenderOf(owner: TaskOwnerMesh<never>): Lender {
    const proc = procsOf(owner)[0]!;
    let known = this.#lenders.get(proc);
    if (known === undefined) {
      known = { owner, values: new Map(), lent: new Map() };
      this.#lenders.set(proc, known);
    }
    return known;
  }

  #tellBorrow({ owner, id }: ObjectReference, borrower: TaskOwnerMesh<never>, returned: boolean): void {
    const { inTurn, clock } = this.#borrower;
    const answered = this.acknowledgements.add(procsOf(owner)[0]!);
    const failed = (error: Error) => {
      if (error instanceof BackpressureError && this.#closed === undefined) clock.after(AGAIN_MS, send, true);
      else answered();
    };
    const send = () => inTurn(() => callForAnswer(owner.borrow, [id, borrower, returned], { answered, failed }));
    send();
  }

  /**
   * The references to values of other processes in the result of a task are about to be sent. Their owners count this process until the
   * receiver has borrowed them, also if this process releases them meanwhile.
   *
   * @returns what is called then
   */
  lend(remotes: readonly ObjectReference[], borrower: TaskOwnerMesh<never>): () => void {
    for (const { owner, id } of remotes) {
      const { lent } = this.#lenderOf(owner);
      lent.set(id, (lent.get(id) ?? 0) + 1);
    }
    return () => {
      for (const remote of remotes) {
        const { lent } = this.#lenderOf(remote.owner);
        const left = (lent.get(remote.id) ?? 1) - 1;
        if (left > 0) lent.set(remote.id, left);
        else lent.delete(remote.id);
        this.#leave(remote, borrower);
      }
    };
  }

  /**
   * Tasks have ended, with which references to large values may have been dropped. An idle process does not collect them by itself, and its
   * maps would keep the memory of the machine.
   */
  suspectDropped(): void {
    for (const known of this.#all()) if (known.result?.stored !== undefined) this.#drops.suspectDropped(known);
  }

  /** Drops the values of a process, which has ended or has left the context. */
  ownerLeft(proc: bigint, reason: ObjectLostError): void {
    const lender = this.#lenders.get(proc);
    this.#lenders.delete(proc);
    for (const known of lender?.values.values() ?? []) {
      this.#drops.unwatch(known);
      known.result?.lose(reason);
    }
  }

  close(reason: Error): void {
    this.#closed = reason;
    for (const { result } of this.#all()) result?.reject(reason);
    this.#lenders.clear();
  }

  *#all(): Generator<KnownValue> {
    for (const { values } of this.#lenders.values()) yield* values.values();
  }

  /** References that have come after those that `known` stands for count for themselves. */
  readonly #giveBack = (known: KnownValue): void => {
    const { remote, borrower } = known;
    const { values } = this.#lenderOf(remote.owner);
    if (values.get(remote.id) !== known) return;
    this.#drops.unwatch(known);
    values.delete(remote.id);
    this.#leave(remote, borrower);
  };

  /** Tells the owner that this process has no reference to a value, when it knows of all that this process has got by it. */
  #leave({ owner, id }: ObjectReference, borrower: TaskOwnerMesh<never>): void {
    const { values, lent } = this.#lenderOf(owner);
    const isUsed = () => this.#closed !== undefined || values.has(id) || lent.has(id);
    if (isUsed()) return;
    const leave = () => {
      if (!isUsed()) this.#borrower.inTurn(() => tell(owner, () => owner.unborrow.broadcast(id, borrower)));
    };
    const known = this.acknowledgements.until();
    if (known === undefined) leave();
    else void known.then(leave);
  }
}
