/**
 * The results of this process to which other processes have references. A result is kept here as long as a reference is
 * on its way, or a process borrows it.
 */
import type { TaskOwnerMesh } from "../../../generated/tasks.js";
import { ObjectLostError } from "../errors.js";
import type { Result } from "./result.js";

interface Exported {
  readonly result: Result;
  /** The number of references in messages whose receivers have not announced themselves yet. */
  onTheWay: number;
  /** The processes that have references, by the ids of their owners. */
  readonly borrowers: Set<string>;
}

export class ExportedResults {
  readonly #ids = new WeakMap<Result, number>();
  readonly #results = new Map<number, Exported>();
  /** The results that each process borrows. A process is watched as long as it borrows any. */
  readonly #borrowed = new Map<string, Set<number>>();
  readonly #watch: (borrower: TaskOwnerMesh<never>, ended: () => void) => void;
  #lastId = 0;

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
    const id = this.idOf(result);
    const known = this.#results.get(id);
    if (known === undefined) this.#results.set(id, { result, onTheWay: 1, borrowers: new Set() });
    else known.onTheWay++;
    return id;
  }

  /** Returns the number of a result, which stays the same. */
  idOf(result: Result): number {
    let id = this.#ids.get(result);
    if (id === undefined) {
      id = ++this.#lastId;
      this.#ids.set(result, id);
    }
    return id;
  }

  /** @throws ObjectLostError if no process has a reference to it */
  find(id: number): Result {
    const found = this.#results.get(id);
    if (found === undefined) throw new ObjectLostError(`result ${id} does not exist any more: its references have been dropped`);
    return found.result;
  }

  borrow(id: number, borrower: TaskOwnerMesh<never>): void {
    const found = this.#results.get(id);
    if (found === undefined) return;
    found.onTheWay = Math.max(0, found.onTheWay - 1);
    const key = `${borrower}`;
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
    this.#drop(id, `${borrower}`);
  }

  clear(): void {
    this.#results.clear();
    this.#borrowed.clear();
  }

  #ended(key: string): void {
    const ids = this.#borrowed.get(key);
    this.#borrowed.delete(key);
    for (const id of ids ?? []) this.#drop(id, key);
  }

  #drop(id: number, key: string): void {
    this.#borrowed.get(key)?.delete(id);
    const found = this.#results.get(id);
    if (found === undefined) return;
    found.borrowers.delete(key);
    if (found.borrowers.size === 0 && found.onTheWay === 0) this.#results.delete(id);
  }
}
