/** The actor that gives the results of its process to other processes. */
import {
  type LocatedResult,
  type ObjectPiece,
  type ObjectSource,
  TaskOwnerActor,
  type TaskOwnerMesh,
  type TaskStoreMesh,
} from "../../../generated/tasks.js";
import type { ContextMember } from "../context/member.js";
import { currentCell, interruptAtStop, runWithoutStorage } from "../kernel.js";
import { bytesOfHeld } from "../objects/held-value.js";
import { pieceOf } from "../objects/pieces.js";

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
    runWithoutStorage(ResultOwner, [
      "locate",
      "source",
      "piece",
      "copied",
      "storeNear",
      "isAwaited",
      "borrow",
      "unborrow",
      "untilLeft",
    ]);
    interruptAtStop(ResultOwner, ["untilLeft"]);
  }

  constructor(context: string) {
    super();
    const member = members.get(keyOf(context, currentCell().proc.id));
    if (member === undefined) throw new Error(`cannot serve results: this process is not a part of context ${context}`);
    this.#member = member;
  }

  async source(id: number, reader?: TaskStoreMesh<never>, failed?: TaskStoreMesh<never>): Promise<ObjectSource> {
    const { exported, sources } = this.#member.refs;
    return sources.find(exported.find(id), reader, failed);
  }

  piece(id: number, index: number): ObjectPiece {
    const { value, label, error } = this.#member.refs.exported.find(id);
    if (value === undefined) throw error ?? new Error(`cannot read the result of ${label}: its owner does not have it`);
    return pieceOf(value, index);
  }

  copied(id: number, reader: TaskStoreMesh<never>): void {
    const { exported, sources } = this.#member.refs;
    const result = exported.known(id);
    if (result !== undefined) sources.copiesOf(result).complete(reader);
    else sources.free(reader, id);
  }

  storeNear(
    machine: bigint,
    offered: TaskStoreMesh<never>,
    failed?: TaskStoreMesh<never>,
  ): Promise<TaskStoreMesh<never>> {
    return this.#member.refs.machineStores.find(machine, offered, failed);
  }

  async locate(id: number, most: number): Promise<LocatedResult> {
    const result = this.#member.refs.exported.find(id);
    if (!result.isDone) await new Promise<void>((resolve) => result.whenDone(resolve));
    if (result.error !== undefined) throw result.error;
    const size = result.size!;
    result.stored?.use();
    const stored = result.memory;
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
