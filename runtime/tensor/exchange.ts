/** What the controller says to processes beside the commands that they execute, which may be waiting for it. */
import type { TensorDeskMesh, TensorKey } from "../../generated/tensor.js";
import { ExchangeDesk } from "./desk.js";
import type { TensorMesh } from "./mesh.js";

export function openDesks(mesh: TensorMesh): TensorDeskMesh<string> {
  return mesh.beside("desks", ExchangeDesk);
}

/** The one at a rank. */
export function deskAt(mesh: TensorMesh, rank: number): TensorDeskMesh<never> {
  return openDesks(mesh).at(mesh.points[rank] as never);
}

/** An answer will not come from the actor at a rank: what waits for it there fails. */
export function failAt(mesh: TensorMesh, key: TensorKey, rank: number, message: string): void {
  if (mesh.active) void deskAt(mesh, rank).fail.broadcast(key, message);
}

/** Nobody will take the answer of the actor at a rank. */
export function dropAt(mesh: TensorMesh, key: TensorKey, rank: number): void {
  if (mesh.active) void deskAt(mesh, rank).drop.broadcast(key);
}
