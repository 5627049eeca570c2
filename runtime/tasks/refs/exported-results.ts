/**
 * The results of this process to which other processes have references. A result is kept here as long as a process borrows it,
 * or a reference to it is on its way in the result of a task. References in arguments and in stored values need no count:
 * those who hold the encoded bytes hold the references, too, so that the result is still found.
 */
import type { TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ObjectLostError } from "../errors.js";
import type { DropDetector, DroppableReference } from "../kernel.js";
import { Receiver } from "./receiver.js";
import type { Result } from "./result.js";

/** A result that was exported, and that is not kept for others. It is forgotten when this process drops it. */
interface Known {
  readonly result: DroppableReference<Result>;
  dropped(): void;
}

/** The receiver of results of tasks that the program has started. The context ends with it. */
const PROGRAM = 0n;

export class ExportedResults {
  /** The results that are kept for others. Each result is in one of the two maps: there can be many. */
  readonly #kept = new Map<number, Result>();
  readonly #known = new Map<number, Known>();
  readonly #drops: DropDetector;
  /** The other processes. The end of each of them is awaited, apart from that of the program. */
  readonly #receivers = new Map<bigint, Receiver>();
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
    return this.#kept.size;
  }

  /**
   * Returns the number of a result, of which a reference is about to be sent.
   *
   * @param isReturned whether it is sent in the result of a task, and thus kept until the receiver borrows it or ends
   * @param owner the owner of the process that has started the task; undefined: the program
   */
  export(result: Result, isReturned: boolean, owner?: TaskOwnerMesh<never>): number {
    const { id } = result;
    if (isReturned) {
      const receiver = this.#receiverOf(owner);
      if (!receiver.has(id)) this.#hold(result);
      receiver.sent(id);
    } else if (!this.#kept.has(id) && !this.#known.has(id)) {
      this.#note(result);
    }
    return id;
  }

  /** Returns a result to which a reference has come back to this process; undefined if it is lost. */
  known(id: number): Result | undefined {
    return this.#kept.get(id) ?? this.#known.get(id)?.result.deref();
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
    return this.#kept.has(id);
  }

  /** Returns the number of processes that have references to a result. */
  borrowersOf(id: number): number {
    let count = 0;
    for (const { borrowed } of this.#receivers.values()) if (borrowed.has(id)) count++;
    return count;
  }

  /** @param returned whether the reference was in the result of a task */
  borrow(id: number, borrower: TaskOwnerMesh<never>, returned: boolean): void {
    const result = this.known(id);
    if (result === undefined) return;
    const receiver = this.#receiverOf(borrower);
    if (!receiver.has(id)) this.#hold(result);
    receiver.borrowed.add(id);
    if (returned && !receiver.arrived(id)) this.#arrivedAt(PROGRAM, id);
  }

  /** A reference in the result of a task has come back to this process, which has run the task itself. */
  returned(id: number, own: bigint): void {
    if (!this.#arrivedAt(own, id)) this.#arrivedAt(PROGRAM, id);
  }

  /** A reference in the result of a task has arrived. Returns false if none was on the way to the process. */
  #arrivedAt(key: bigint, id: number): boolean {
    const receiver = this.#receivers.get(key);
    if (receiver?.arrived(id) !== true) return false;
    if (!receiver.has(id)) this.#letGo(id);
    return true;
  }

  unborrow(id: number, borrower: TaskOwnerMesh<never>): void {
    const receiver = this.#receivers.get(procsOf(borrower)[0]!);
    if (receiver?.borrowed.delete(id) === true && !receiver.has(id)) this.#letGo(id);
  }

  clear(): void {
    this.#kept.clear();
    this.#known.clear();
    this.#receivers.clear();
  }

  #receiverOf(owner: TaskOwnerMesh<never> | undefined): Receiver {
    const key = owner === undefined ? PROGRAM : procsOf(owner)[0]!;
    let known = this.#receivers.get(key);
    if (known === undefined) {
      known = new Receiver();
      this.#receivers.set(key, known);
      if (owner !== undefined) this.#watch(owner, () => this.ended(key));
    }
    return known;
  }

  /** A process that borrows results has ended or has left the context. References on the way to it never arrive. */
  ended(key: bigint): void {
    const receiver = this.#receivers.get(key);
    this.#receivers.delete(key);
    for (const id of receiver?.all ?? []) this.#letGo(id);
  }

  /** Keeps a result for one more process. */
  #hold(result: Result): void {
    if (result.holders++ > 0) return;
    const { id } = result;
    const known = this.#known.get(id);
    if (known !== undefined) {
      this.#known.delete(id);
      this.#drops.unwatch(known);
    }
    this.#kept.set(id, result);
  }

  /** Keeps a result for one process less. */
  #letGo(id: number): void {
    const result = this.#kept.get(id);
    if (result === undefined || --result.holders > 0) return;
    this.#kept.delete(id);
    this.#note(result);
  }

  /** Finds the result as long as this process has it. */
  #note(result: Result): void {
    const { id } = result;
    const known: Known = { result: this.#drops.reference(result), dropped: () => this.#known.delete(id) };
    this.#known.set(id, known);
    this.#drops.watch(result, known);
  }
}
