/**
 * Tensors from one mesh to another one: of its own processes, each of which hands its part over, or of others, which read the memory
 * of theirs.
 */
import type { TensorDeskMesh } from "../../generated/tensor.js";
import { deskAt } from "./exchange.js";
import { type Part, requireMesh, type TensorMesh } from "./mesh.js";
import { site } from "./site.js";
import type { Tensor } from "./tensor.js";
import { typeOf } from "./type.js";

/** @throws TensorError for a tensor of this process, RangeError for what is no part of its mesh */
export function sliceMesh(tensor: object, spec: Part): Tensor {
  const { mesh } = ofMesh(tensor, "sliceMesh");
  return toMesh(tensor, mesh.slice(spec));
}

/** @throws TensorError for a tensor of this process, RangeError for a mesh that has other processes, and not as many */
export function toMesh(tensor: object, target: TensorMesh): Tensor {
  const { mesh, reference } = ofMesh(tensor, "toMesh");
  target.check();
  const moved = tensor as Tensor;
  const sources = sourcesOf(mesh, target);
  const key = target.newKey();
  const [made, number] = target.declare(moved.shape, moved.dtype);
  const targets = target.places;
  const where = site();
  for (const [rank, source] of sources.entries()) {
    const stays = mesh.places[source] === targets[rank];
    mesh.tell([source], (worker) =>
      stays
        ? worker.lend.broadcast(BigInt(reference), key)
        : worker.give.broadcast(BigInt(reference), key, deskAt(target, rank) as unknown as TensorDeskMesh),
    );
  }
  target.tell([...targets.keys()], (worker) =>
    worker.take.broadcast(key.number, [{ reference: number, type: typeOf(moved) }], "toMesh", where),
  );
  return made;
}

/** From where each process of the target gets its part: from its own, or else from the one of the same rank. */
function sourcesOf(mesh: TensorMesh, target: TensorMesh): readonly number[] {
  const { places } = mesh;
  const own = target.places.map((place) => places.indexOf(place));
  if (!own.includes(-1)) return own;
  if (places.length === own.length) return [...own.keys()];
  throw new RangeError(
    `cannot move a tensor from mesh ${mesh.procs} to mesh ${target.procs}: it has ${own.length} processes, which are no part of the ` +
      `${places.length} and not as many`,
  );
}

function ofMesh(tensor: object, verb: string) {
  return requireMesh(tensor as Tensor, `${verb} a tensor of this process`, "it is of no mesh");
}
