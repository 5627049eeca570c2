/** The controller's side of exchanges between tensors of meshes and actors: their keys, and what is said beside the commands. */
import type { TensorDeskMesh, TensorKey } from "../../generated/tensor.js";
import { ExchangeDesk } from "./desk.js";
import type { TensorMesh } from "./mesh.js";

const counts = new WeakMap<TensorMesh, bigint>();
const desks = new WeakMap<TensorMesh, TensorDeskMesh<string>>();
let count = 0;

/** By which an exchange is known to the processes of a mesh. */
export function newKey(mesh: TensorMesh): TensorKey {
  const number = (counts.get(mesh) ?? 0n) + 1n;
  counts.set(mesh, number);
  return { mesh: mesh.id, number };
}

/** Actors beside the workers, who may be waiting for what these are told. */
export function openDesks(mesh: TensorMesh): TensorDeskMesh<string> {
  let opened = desks.get(mesh);
  if (opened === undefined) {
    opened = mesh.procs.spawn(`tensor-desks-${++count}`, ExchangeDesk) as TensorDeskMesh<string>;
    desks.set(mesh, opened);
    mesh.owns(opened);
  }
  return opened;
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
