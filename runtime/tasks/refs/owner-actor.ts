/** The actor that gives the results of its process to other processes. */
import { type LocatedResult, TaskOwnerActor, type TaskOwnerMesh } from "../../../generated/tasks.js";
import type { ContextMember } from "../context/member.js";
import { currentCell, interruptAtStop, runWithoutStorage } from "../kernel.js";
import { bytesOfHeld } from "../objects/held-value.js";
import type { Result } from "./result.js";

/** By context and process: processes that share an event loop have members of their own. */
const members = new Map<string, ContextMember>();

function keyOf(context: string, proc: bigint): string {
  return `${context}/${proc}`;
}

/** Makes a member reachable for the owner actor that is created with its name, the id of the context unless the process is a guest. */
export function addMember(member: ContextMember, name = member.id): void {
  members.set(keyOf(name, member.proc), member);
}

/** Forgets a member whose context has been closed. */
export function removeMember({ id, proc }: ContextMember, name = id): void {
  members.delete(keyOf(name, proc));
}

/** Returns the part of a context in a process of this event loop. */
export function memberOf(context: string, proc: bigint): ContextMember | undefined {
  return members.get(keyOf(context, proc));
}

/** @internal */
export class ResultOwner extends TaskOwnerActor {
  readonly #member: ContextMember;

  static {
    // Programs have it as soon as other processes use their results. Promises cost them less without storage.
    runWithoutStorage(ResultOwner, ["fetch", "locate", "isAwaited", "borrow", "unborrow", "untilLeft"]);
    interruptAtStop(ResultOwner, ["untilLeft"]);
  }

  constructor(context: string) {
    super();
    const member = members.get(keyOf(context, currentCell().proc.id));
    if (member === undefined) throw new Error(`cannot serve results: this process is not a part of context ${context}`);
    this.#member = member;
  }

  fetch(id: number): Promise<Uint8Array> | Uint8Array {
    const result = this.#member.refs.exported.find(id);
    return result.value === undefined ? untilSettled(result) : bytesOfHeld(result.value);
  }

  async locate(id: number, most: number): Promise<LocatedResult> {
    const result = this.#member.refs.exported.find(id);
    if (!result.isSettled) await new Promise<void>((resolve) => result.whenSettled(resolve));
    if (result.error !== undefined) throw result.error;
    const size = result.size!;
    const stored = result.stored?.memory;
    if (stored !== undefined) return { size, stored };
    return size <= most ? { size, value: bytesOfHeld(result.value!) } : { size };
  }

  isAwaited(id: number): boolean {
    return this.#member.isAwaited(id);
  }

  borrow(id: number, borrower: TaskOwnerMesh<never>, returned: boolean): void {
    this.#member.refs.exported.borrow(id, borrower, returned);
  }

  unborrow(id: number, borrower: TaskOwnerMesh<never>): void {
    this.#member.refs.exported.unborrow(id, borrower);
  }

  untilLeft(): Promise<void> {
    return this.#member.left;
  }
}

function untilSettled(result: Result): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    result.whenSettled(() => {
      if (result.value === undefined) reject(result.error!);
      else resolve(bytesOfHeld(result.value));
    });
  });
}
