/** Messages from the controller to the exchange actors of the procs. They bypass the command queue, which may wait for them. */
import type { TensorDeskMesh, TensorKey } from "../../../generated/tensor.js";
import { ExchangeDesk } from "../desk.js";
import type { TensorMesh } from "./tensor-mesh.js";

export function exchangeActorsOf(mesh: TensorMesh): TensorDeskMesh<string> {
  return mesh.companionActors("desks", ExchangeDesk);
}

/** Returns the exchange actor at a rank. */
export function exchangeActorAt(mesh: TensorMesh, rank: number): TensorDeskMesh<never> {
  return exchangeActorsOf(mesh).at(mesh.points[rank] as never);
}

/** Reports that the actor at a rank returns no result. The commands that wait for the result fail. */
export function failExchange(mesh: TensorMesh, key: TensorKey, rank: number, message: string): void {
  if (mesh.active) void exchangeActorAt(mesh, rank).fail.broadcast(key, message);
}

/** Drops the retained result of the actor at a rank. */
export function dropExchange(mesh: TensorMesh, key: TensorKey, rank: number): void {
  if (mesh.active) void exchangeActorAt(mesh, rank).drop.broadcast(key);
}
