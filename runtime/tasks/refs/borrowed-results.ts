/** The results of other processes to which this process has references. */
import type { ObjectReference, TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { SupervisionError } from "../../index.js";
import { ObjectLostError } from "../errors.js";
import type { DropDetector, DroppableReference } from "../kernel.js";
import { MIN_STORED_BYTES, StoredValue } from "../objects/stored-value.js";
import { taskErrorOf } from "../submit/task-error-of.js";
import { tell } from "../tell.js";
import { BorrowedResult } from "./borrowed-result.js";
import type { Result } from "./result.js";

/**
 * The size in bytes above which a result that is an argument goes from its owner to the worker, and not through this process.
 * Smaller ones come with the answer of the owner, which is awaited anyway.
 */
const LARGE_BYTES = MIN_STORED_BYTES;

interface Borrowed {
  readonly key: string;
  readonly remote: ObjectReference;
  readonly borrower: TaskOwnerMesh<never>;
}

export class BorrowedResults {
  readonly #results = new Map<string, DroppableReference<BorrowedResult>>();
  readonly #drops: DropDetector;
  readonly #inTurn: (body: () => void) => void;
  #closed: Error | undefined;

  /** @param drops finds results to which this process has no reference any more */
  constructor(drops: DropDetector, inTurn: (body: () => void) => void) {
    this.#drops = drops;
    this.#inTurn = inTurn;
  }

  /**
   * Returns the result of a reference. It is fetched when someone waits for it.
   *
   * @param returned whether the reference has just arrived in the result of a task
   */
  borrow(remote: ObjectReference, borrower: TaskOwnerMesh<never>, returned: boolean): BorrowedResult {
    const key = `${procsOf(remote.owner)[0]}/${remote.id}`;
    const known = this.#results.get(key)?.deref();
    if (known !== undefined) {
      // This process counts once. The owner learns that the reference on its way has arrived.
      noteLocation(known, remote);
      if (returned)
        this.#inTurn(() => tell(remote.owner, () => remote.owner.borrow.broadcast(remote.id, borrower, true)));
      return known;
    }
    // A result that is being fetched stays, because somebody waits for it.
    const result: BorrowedResult = new BorrowedResult(remote.label, {
      fetch: () => this.#fetch(remote, result),
      locate: () => this.#locate(remote, result),
    });
    noteLocation(result, remote);
    this.#results.set(key, this.#drops.reference(result));
    this.#drops.watch(result, this.#borrowed({ key, remote, borrower }));
    this.#inTurn(() => tell(remote.owner, () => remote.owner.borrow.broadcast(remote.id, borrower, returned)));
    if (this.#closed !== undefined) result.reject(this.#closed);
    return result;
  }

  /** Drops the values of a process, which has ended or has left the context. */
  ownerLeft(proc: bigint, reason: ObjectLostError): void {
    for (const [key, weak] of this.#results) {
      if (!key.startsWith(`${proc}/`)) continue;
      this.#results.delete(key);
      weak.deref()?.lose(reason);
    }
  }

  close(reason: Error): void {
    this.#closed = reason;
    for (const weak of this.#results.values()) weak.deref()?.reject(reason);
    this.#results.clear();
  }

  /** The closure is made apart from the result, which it would keep otherwise. */
  #borrowed(borrowed: Borrowed): { dropped(): void } {
    return { dropped: () => this.#giveBack(borrowed) };
  }

  #fetch(remote: ObjectReference, result: BorrowedResult): void {
    if (openHere(result)) return;
    if (result.sizeAtOwner !== undefined) {
      this.#fetchBytes(remote, result);
      return;
    }
    // The owner may have it in the memory of this machine.
    this.#locate(remote, result);
    result.whenLocated(() => {
      if (!result.isSettled && !openHere(result)) this.#fetchBytes(remote, result);
    });
  }

  #fetchBytes({ owner, id, label }: ObjectReference, result: Result): void {
    this.#inTurn(() => {
      owner.fetch.callOne(id).then(
        (bytes) => result.resolve(bytes),
        (error: Error) => result.reject(explain(label, error)),
      );
    });
  }

  #locate({ owner, id, label }: ObjectReference, result: BorrowedResult): void {
    this.#inTurn(() => {
      owner.locate.callOne(id, LARGE_BYTES).then(
        ({ size, value, stored }) => {
          result.place ??= stored;
          result.located(size, value);
        },
        (error: Error) => result.reject(explain(label, error)),
      );
    });
  }

  #giveBack({ key, remote, borrower }: Borrowed): void {
    if (this.#closed !== undefined || this.#results.get(key)?.deref() !== undefined) return;
    this.#results.delete(key);
    this.#inTurn(() => tell(remote.owner, () => remote.owner.unborrow.broadcast(remote.id, borrower)));
  }
}

/** Notes what a reference says about its value. */
function noteLocation(result: BorrowedResult, { size, stored }: ObjectReference): void {
  result.place ??= stored;
  if (size !== undefined && size > LARGE_BYTES) result.located(size, undefined);
}

/** Opens the value if it is in the memory of this machine. Returns whether it is. */
function openHere(result: BorrowedResult): boolean {
  const opened = result.place && StoredValue.open(result.place);
  if (opened === undefined) return false;
  result.resolve(opened);
  return true;
}

function explain(label: string, error: Error): Error {
  if (error instanceof SupervisionError) {
    return new ObjectLostError(`the result of ${label} is lost: the process that had it has ended: ${error.message}`, {
      cause: error,
    });
  }
  const made = taskErrorOf(label, error);
  // The owner knows that nobody keeps the result.
  return (made as { remoteName?: string }).remoteName === "ObjectLostError" ? new ObjectLostError(made.message) : made;
}
