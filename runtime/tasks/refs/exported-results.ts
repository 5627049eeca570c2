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
  /** The number of references in results of tasks whose receivers have not announced themselves yet. */
  onTheWay: number;
  /** The processes that have references, by the ids of their owners. */
  readonly borrowers: Set<bigint>;
}

export class ExportedResults {
  readonly #results = new Map<number, Exported>();
  readonly #drops: DropDetector;
  /** The results that each process borrows. A process is watched as long as it borrows any. */
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
   * @param isReturned whether it is sent in the result of a task, and thus kept until the receiver borrows it
   */
  export(result: Result, isReturned: boolean): number {
    const { id } = result;
    let known = this.#results.get(id);
    if (known === undefined) {
      known = { kept: undefined, result: this.#drops.reference(result), onTheWay: 0, borrowers: new Set() };
      this.#results.set(id, known);
      this.#drops.watch(result, { dropped: () => this.#results.delete(id) });
    }
    if (isReturned) {
      known.onTheWay++;
      known.kept = result;
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

  /** @param returned whether the reference was in the result of a task */
  borrow(id: number, borrower: TaskOwnerMesh<never>, returned: boolean): void {
    const found = this.#results.get(id);
    const result = found?.result.deref();
    if (found === undefined || result === undefined) return;
    if (returned) found.onTheWay = Math.max(0, found.onTheWay - 1);
    found.kept = result;
    const key = procsOf(borrower)[0]!;
    found.borrowers.add(key);
    const ids = this.#borrowed.get(key);
    if (ids !== undefined) {
      ids.add(id);
      return;
    }
    this.#borrowed.set(key, new Set([id]));
    this.#watch(borrower, () => this.#ended(key));
  }

  unborrow(id: number, borrower: TaskOwnerMesh<never>): void {
    this.#drop(id, procsOf(borrower)[0]!);
  }

  clear(): void {
    this.#results.clear();
    this.#borrowed.clear();
  }

  #ended(key: bigint): void {
    const ids = this.#borrowed.get(key);
    this.#borrowed.delete(key);
    for (const id of ids ?? []) this.#drop(id, key);
  }

  #drop(id: number, key: bigint): void {
    this.#borrowed.get(key)?.delete(id);
    const found = this.#results.get(id);
    if (found === undefined) return;
    found.borrowers.delete(key);
    if (found.borrowers.size === 0 && found.onTheWay === 0) found.kept = undefined;
  }
}
