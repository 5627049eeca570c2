/**
 * The results of this process to which other processes have references. A result is kept here as long as a reference is
 * on its way, or a process borrows it.
 */
import type { TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ObjectLostError } from "../errors.js";
import type { Result } from "./result.js";

interface Exported {
  readonly result: Result;
  /** The number of references in messages whose receivers have not announced themselves yet. */
  onTheWay: number;
  /** The processes that have references, by the ids of their owners. */
  readonly borrowers: Set<bigint>;
}

export class ExportedResults {
  readonly #results = new Map<number, Exported>();
  /** The results that each process borrows. A process is watched as long as it borrows any. */
  readonly #borrowed = new Map<bigint, Set<number>>();
  readonly #watch: (borrower: TaskOwnerMesh<never>, ended: () => void) => void;

  /** @param watch calls `ended` once, when the process of a borrower has ended or left the context */
  constructor(watch: (borrower: TaskOwnerMesh<never>, ended: () => void) => void) {
    this.#watch = watch;
  }

  /** The number of results that are kept for others. */
  get size(): number {
    return this.#results.size;
  }

  /** Returns the number of a result, of which a reference is about to be sent. */
  export(result: Result): number {
    const { id } = result;
    const known = this.#results.get(id);
    if (known === undefined) this.#results.set(id, { result, onTheWay: 1, borrowers: new Set() });
    else known.onTheWay++;
    return id;
  }

  /** Returns a result to which a reference has come back to this process. */
  returned(id: number): Result | undefined {
    const found = this.#results.get(id);
    if (found === undefined) return undefined;
    found.onTheWay = Math.max(0, found.onTheWay - 1);
    this.#dropUnused(id, found);
    return found.result;
  }

  /** @throws ObjectLostError if no process has a reference to it */
  find(id: number): Result {
    const found = this.#results.get(id);
    if (found === undefined)
      throw new ObjectLostError(`result ${id} does not exist any more: its references have been dropped`);
    return found.result;
  }

  borrow(id: number, borrower: TaskOwnerMesh<never>): void {
    const found = this.#results.get(id);
    if (found === undefined) return;
    found.onTheWay = Math.max(0, found.onTheWay - 1);
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
    this.#dropUnused(id, found);
  }

  #dropUnused(id: number, { borrowers, onTheWay }: Exported): void {
    if (borrowers.size === 0 && onTheWay === 0) this.#results.delete(id);
  }
}
