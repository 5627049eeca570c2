/** Reads values of other processes: asks their owner for a source, and the source for pieces. */
import type { ObjectPiece, ObjectSource, TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import type { PieceSource } from "./bring-value.js";
import type { Store } from "./copies.js";

/** Runs code that sends messages. */
export type InTurn = (body: () => void) => void;

/** A value, and its reader. */
export interface RemoteRead {
  readonly owner: TaskOwnerMesh<never>;
  /** The number of the result at its owner. */
  readonly id: number;
  /** The store that reads it; undefined: a process reads it for itself. */
  readonly reader?: Store | undefined;
  readonly inTurn: InTurn;
}

/** Returns a function that asks the owner for a source. Called again, it says that the last one has failed. */
export function sourcesOf({ owner, id, reader, inTurn }: RemoteRead): () => Promise<PieceSource> {
  const read = (index: number) => callInTurn(inTurn, () => owner.piece.callOne(id, index));
  const find = (failed: Store | undefined) => callInTurn(inTurn, () => owner.source.callOne(id, reader, failed));
  return nextSource(find, read, { owner: procsOf(owner)[0]!, id, inTurn });
}

/**
 * @param find asks for a source, and says which store has failed
 * @param fromOwner reads a piece from the owner
 */
export function nextSource(
  find: (failed: Store | undefined) => Promise<ObjectSource>,
  fromOwner: (index: number) => Promise<ObjectPiece>,
  { owner, id, inTurn }: { readonly owner: bigint; readonly id: number; readonly inTurn: InTurn },
): () => Promise<PieceSource> {
  let last: Store | undefined;
  return async () => {
    const { size, head, store } = await find(last);
    last = store;
    if (store === undefined) return { size, head, read: fromOwner };
    return { size, head, read: (index) => callInTurn(inTurn, () => store.piece.callOne(owner, id, index)) };
  };
}

/** Calls an endpoint in a turn. */
export function callInTurn<T>(inTurn: InTurn, call: () => PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => inTurn(() => void call().then(resolve, reject)));
}
