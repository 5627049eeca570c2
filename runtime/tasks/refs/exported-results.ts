/**
 * The results of this process to which other processes have references. A result is kept here as long as a process borrows it,
 * or a reference to it is on its way in the result of a task. References in arguments and in stored values need no count:
 * those who hold the encoded bytes hold the references, too, so that the result is still found.
 */
import type { TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ObjectLostError } from "../errors.js";
import type { DropDetector, DroppableReference } from "../kernel.js";
import type { Result } from "./result.js";

interface Exported {
  /** The result, while it is kept for others. */
  kept: Result | undefined;
  readonly result: DroppableReference<Result>;
  /** The number of references in results of tasks that each receiver has not borrowed yet. */
  readonly onTheWay: Map<bigint, number>;
  /** The processes that have references, by the ids of their owners. */
  readonly borrowers: Set<bigint>;
}

/** The receiver of results of tasks that the program has started. The context ends with it. */
const PROGRAM = 0n;

export class ExportedResults {
  readonly #results = new Map<number, Exported>();
  readonly #drops: DropDetector;
  /** The results that each process borrows, and those to which references are on the way to it. Each process here is watched. */
  readonly #borrowed = new Map<bigint, Set<number>>();
  readonly #watch: (borrower: TaskOwnerMesh<never>, ended: () => void) => void;

  /**
   * @param drops finds results that neither this process nor another one has any more, which are forgotten
   * @param watch calls `ended` once, when the process of a borrower has ended or left the context
   */
  constructor(drops: DropDetector, watch: (borrower: TaskOwnerMesh<never>, ended: () => void) => void) {
    this.#drops = drops;
    this.#watch = watch;
  }

  /** The number of results that are kept for others. */
  get size(): number {
    let size = 0;
    for (const { kept } of this.#results.values()) if (kept !== undefined) size++;
    return size;
  }

  /**
   * Returns the number of a result, of which a reference is about to be sent.
   *
   * @param isReturned whether it is sent in the result of a task, and thus kept until the receiver borrows it or ends
   * @param receiver the owner of the process that has started the task; undefined: the program
   */
  export(result: Result, isReturned: boolean, receiver?: TaskOwnerMesh<never>): number {
    const { id } = result;
    let known = this.#results.get(id);
    if (known === undefined) {
      known = { kept: undefined, result: this.#drops.reference(result), onTheWay: new Map(), borrowers: new Set() };
      this.#results.set(id, known);
      this.#drops.watch(result, { dropped: () => this.#results.delete(id) });
    }
    if (isReturned) {
      const key = receiver === undefined ? PROGRAM : procsOf(receiver)[0]!;
      known.onTheWay.set(key, (known.onTheWay.get(key) ?? 0) + 1);
      known.kept = result;
      if (receiver !== undefined) this.#concerns(key, receiver, id);
    }
    return id;
  }

  /** Returns a result to which a reference has come back to this process; undefined if it is lost. */
  known(id: number): Result | undefined {
    return this.#results.get(id)?.result.deref();
  }

  /** @throws ObjectLostError if no process has a reference to it */
  find(id: number): Result {
    const found = this.known(id);
    if (found === undefined)
      throw new ObjectLostError(`result ${id} does not exist any more: its references have been dropped`);
    return found;
  }

  /** Returns whether a result is kept for others. */
  keeps(id: number): boolean {
    return this.#results.get(id)?.kept !== undefined;
  }

  /** Returns the number of processes that have references to a result. */
  borrowersOf(id: number): number {
    return this.#results.get(id)?.borrowers.size ?? 0;
  }

  /** @param returned whether the reference was in the result of a task */
  borrow(id: number, borrower: TaskOwnerMesh<never>, returned: boolean): void {
    const found = this.#results.get(id);
    const result = found?.result.deref();
    if (found === undefined || result === undefined) return;
    const key = procsOf(borrower)[0]!;
    if (returned) arrived(found, found.onTheWay.has(key) ? key : PROGRAM);
    found.kept = result;
    found.borrowers.add(key);
    this.#concerns(key, borrower, id);
  }

  /** A reference in the result of a task has come back to this process, which has run the task itself. */
  returned(id: number, own: bigint): void {
    const found = this.#results.get(id);
    if (found === undefined) return;
    arrived(found, found.onTheWay.has(own) ? own : PROGRAM);
    forget(found);
  }

  unborrow(id: number, borrower: TaskOwnerMesh<never>): void {
    this.#drop(id, procsOf(borrower)[0]!, false);
  }

  clear(): void {
    this.#results.clear();
    this.#borrowed.clear();
  }

  /** A process that borrows results, or to which references are on the way, has ended or has left the context. */
  ended(key: bigint): void {
    const ids = this.#borrowed.get(key);
    this.#borrowed.delete(key);
    for (const id of ids ?? []) this.#drop(id, key, true);
  }

  /** Notes that the end of a process concerns a result. */
  #concerns(key: bigint, owner: TaskOwnerMesh<never>, id: number): void {
    const ids = this.#borrowed.get(key);
    if (ids !== undefined) {
      ids.add(id);
      return;
    }
    this.#borrowed.set(key, new Set([id]));
    this.#watch(owner, () => this.ended(key));
  }

  /** @param hasEnded whether the process has ended, so that references on the way to it never arrive */
  #drop(id: number, key: bigint, hasEnded: boolean): void {
    const found = this.#results.get(id);
    if (hasEnded) found?.onTheWay.delete(key);
    if (found?.onTheWay.has(key) !== true) this.#borrowed.get(key)?.delete(id);
    if (found === undefined) return;
    found.borrowers.delete(key);
    forget(found);
  }
}

/** Keeps a result no longer if no other process needs it. */
function forget(found: Exported): void {
  if (found.borrowers.size === 0 && found.onTheWay.size === 0) found.kept = undefined;
}

function arrived({ onTheWay }: Exported, key: bigint): void {
  const left = (onTheWay.get(key) ?? 0) - 1;
  if (left > 0) onTheWay.set(key, left);
  else onTheWay.delete(key);
}
