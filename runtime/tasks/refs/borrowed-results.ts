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

/** What the owner of a value knows of this process. It does not refer to the value, which it would keep otherwise. */
class Borrowed {
  readonly key: string;
  readonly remote: ObjectReference;
  readonly borrower: TaskOwnerMesh<never>;
  readonly #giveBack: (borrowed: Borrowed) => void;

  constructor(
    key: string,
    remote: ObjectReference,
    borrower: TaskOwnerMesh<never>,
    giveBack: (borrowed: Borrowed) => void,
  ) {
    this.key = key;
    this.remote = remote;
    this.borrower = borrower;
    this.#giveBack = giveBack;
  }

  dropped(): void {
    this.#giveBack(this);
  }

  released(): void {
    this.#giveBack(this);
  }
}

interface KnownValue {
  readonly value: DroppableReference<BorrowedValue>;
  readonly borrowed: Borrowed;
}

export class BorrowedResults {
  readonly #values = new Map<string, KnownValue>();
  readonly #drops: DropDetector;
  readonly #borrower: () => Borrower;
  /** The borrows of which owners do not know yet. */
  readonly acknowledgements = new BorrowAcknowledgements();
  /** The numbers of results of tasks with references that their receivers have not borrowed yet, by the key of the value. */
  readonly #lent = new Map<string, number>();
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
    const key = keyOf(remote);
    const known = this.#values.get(key)?.value.deref();
    if (known !== undefined) {
      // This process counts once. The owner learns that the reference on its way has arrived.
      known.note(remote);
      if (returned) this.#tellBorrow(remote, borrower, true);
      return known.result;
    }
    // A result that is being fetched stays, because somebody waits for it.
    const borrowed = new Borrowed(key, remote, borrower, this.#giveBack);
    const value = new BorrowedValue(remote, this.#borrower(), borrowed);
    this.#values.set(key, { value: this.#drops.reference(value), borrowed });
    this.#drops.watch(value, borrowed);
    this.#tellBorrow(remote, borrower, returned);
    if (this.#closed !== undefined) value.result.reject(this.#closed);
    return value.result;
  }

  #tellBorrow(remote: ObjectReference, borrower: TaskOwnerMesh<never>, returned: boolean): void {
    const { owner, id } = remote;
    const { inTurn, clock } = this.#borrower();
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
    for (const key of remotes.map(keyOf)) this.#lent.set(key, (this.#lent.get(key) ?? 0) + 1);
    return () => {
      for (const remote of remotes) {
        const key = keyOf(remote);
        const left = this.#lent.get(key)! - 1;
        if (left > 0) this.#lent.set(key, left);
        else this.#lent.delete(key);
        this.#leave(key, remote, borrower);
      }
    };
  }

  /**
   * Tasks have ended, with which references to large values may have been dropped. An idle process does not collect them by itself, and its
   * maps would keep the memory of the machine.
   */
  suspectDropped(): void {
    for (const { value, borrowed } of this.#values.values()) {
      if (value.deref()?.result.stored !== undefined) this.#drops.suspectDropped(borrowed);
    }
  }

  /** Drops the values of a process, which has ended or has left the context. */
  ownerLeft(proc: bigint, reason: ObjectLostError): void {
    for (const [key, { value, borrowed }] of this.#values) {
      if (!key.startsWith(`${proc}/`)) continue;
      this.#values.delete(key);
      this.#drops.unwatch(borrowed);
      value.deref()?.result.lose(reason);
    }
  }

  close(reason: Error): void {
    this.#closed = reason;
    for (const { value } of this.#values.values()) value.deref()?.result.reject(reason);
    this.#values.clear();
  }

  /** All references that `borrowed` stands for were dropped, or one was released. Those that have come later count for themselves. */
  readonly #giveBack = (borrowed: Borrowed): void => {
    const { key, remote, borrower } = borrowed;
    if (this.#values.get(key)?.borrowed !== borrowed) return;
    this.#drops.unwatch(borrowed);
    this.#values.delete(key);
    this.#leave(key, remote, borrower);
  };

  /** Tells the owner that this process has no reference to a value, when it knows of all that this process has got by it. */
  #leave(key: string, remote: ObjectReference, borrower: TaskOwnerMesh<never>): void {
    const isUsed = () => this.#closed !== undefined || this.#values.has(key) || this.#lent.has(key);
    if (isUsed()) return;
    const { owner, id } = remote;
    const leave = () => {
      if (!isUsed()) this.#borrower().inTurn(() => tell(owner, () => owner.unborrow.broadcast(id, borrower)));
    };
    const known = this.acknowledgements.until();
    if (known === undefined) leave();
    else void known.then(leave);
  }
}

function keyOf({ owner, id }: ObjectReference): string {
  return `${procsOf(owner)[0]}/${id}`;
}
