/** Reads values of other processes: asks their owner for a source, and the source for pieces. */
import type { TaskOwnerMesh } from "../../../generated/tasks.js";
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
  let last: Store | undefined;
  return async () => {
    const failed = last;
    const { size, head, store } = await callInTurn(inTurn, () => owner.source.callOne(id, reader, failed));
    last = store;
    if (store !== undefined) return { size, head, read: readerFrom(store, procsOf(owner)[0]!, id, inTurn) };
    return { size, head, read: (index) => callInTurn(inTurn, () => owner.piece.callOne(id, index)) };
  };
}

/** Returns a function that reads pieces of a value from a store. @param owner the process that owns the value */
export function readerFrom(store: Store, owner: bigint, id: number, inTurn: InTurn): PieceSource["read"] {
  return (index) => callInTurn(inTurn, () => store.piece.callOne(owner, id, index));
}

/** Calls an endpoint in a turn. */
export function callInTurn<T>(inTurn: InTurn, call: () => PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => inTurn(() => void call().then(resolve, reject)));
}
