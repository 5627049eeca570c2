/** What the controller says to processes beside the commands that they execute, which may be waiting for it. */
import type { TensorDeskMesh, TensorKey } from "../../../generated/tensor.js";
import { ExchangeDesk } from "../desk.js";
import type { TensorMesh } from "./tensor-mesh.js";

export function exchangeActorsOf(mesh: TensorMesh): TensorDeskMesh<string> {
  return mesh.companionActors("desks", ExchangeDesk);
}

/** The one at a rank. */
export function exchangeActorAt(mesh: TensorMesh, rank: number): TensorDeskMesh<never> {
  return exchangeActorsOf(mesh).at(mesh.points[rank] as never);
}

/** An answer will not come from the actor at a rank: what waits for it there fails. */
export function failExchange(mesh: TensorMesh, key: TensorKey, rank: number, message: string): void {
  if (mesh.active) void exchangeActorAt(mesh, rank).fail.broadcast(key, message);
}

/** Nobody will take the answer of the actor at a rank. */
export function dropExchange(mesh: TensorMesh, key: TensorKey, rank: number): void {
  if (mesh.active) void exchangeActorAt(mesh, rank).drop.broadcast(key);
}
