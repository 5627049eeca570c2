/** A value that was put in a simulated context, and the processes that have references to it, as the program would count them. */
import type { ContextMember } from "../../../runtime/tasks/context/member.js";
import type { ObjectRef } from "../../../runtime/tasks/index.js";
import { recordOf } from "../../../runtime/tasks/refs/object-ref.js";
import type { ProcessView } from "../../../runtime/testing/index.js";

/** Tasks pass a reference to each other in a plain value, with the number of the value to which it refers. */
export interface Parcel {
  readonly id: number;
  readonly ref: ObjectRef<Content>;
}

/** A value: its own number, and perhaps a reference to another value. */
export interface Content {
  readonly id: number;
  readonly inner: Parcel | undefined;
}

/** The use of a value by a process. It lasts from before the process gets a reference until the process lets go of it. */
export interface Hold {
  readonly process: ProcessView;
  readonly why: string;
}

export class SharedValue {
  readonly id: number;
  readonly owner: ProcessView;
  /** The reference that its owner has got from `put`. */
  readonly #own: ObjectRef<Content>;
  readonly #holds = new Set<Hold>();
  /** The last reference that each other process has got. */
  readonly #borrowed = new Map<ProcessView, ObjectRef<Content>>();
  /** Whether its owner has freed it. */
  isFreed = false;

  constructor(id: number, owner: ProcessView, own: ObjectRef<Content>) {
    this.id = id;
    this.owner = owner;
    this.#own = own;
  }

  hold(process: ProcessView, why: string): Hold {
    const hold: Hold = { process, why };
    this.#holds.add(hold);
    return hold;
  }

  /** A process has got a reference. */
  got(process: ProcessView, ref: ObjectRef<Content>): void {
    if (process !== this.owner) this.#borrowed.set(process, ref);
  }

  /** Ends a use. A process that has no other use releases what it has got. */
  letGo(hold: Hold): void {
    const { process } = hold;
    if (!this.#holds.delete(hold) || this.isHeldBy(process)) return;
    this.#borrowed.get(process)?.release();
    this.#borrowed.delete(process);
  }

  isHeldBy(process: ProcessView): boolean {
    return [...this.#holds].some((hold) => hold.process === process);
  }

  /** The uses by processes that live, and do not leave the context. */
  get holds(): Hold[] {
    return [...this.#holds].filter(({ process }) => !process.ended && !this.#isLeaving(process));
  }

  #isLeaving(process: ProcessView): boolean {
    const ref = this.#borrowed.get(process);
    return ref !== undefined && recordOf(ref).member.closed !== undefined;
  }

  /** Whether its owner has ended, or does so now. */
  get isLost(): boolean {
    return this.owner.ended || recordOf(this.#own).member.closed !== undefined;
  }

  /** Whether the runtime of its owner keeps it for others. */
  get isKept(): boolean {
    const { member, result } = recordOf(this.#own);
    return (member as ContextMember).refs.exported.keeps(result.id);
  }

  /** Does what the garbage collector does in a program, which cannot be repeated: drops the value that nothing refers to. */
  free(): void {
    this.isFreed = true;
    this.#own.release();
  }
}
