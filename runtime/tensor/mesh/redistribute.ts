/**
 * Moves tensors from one mesh to another. A proc of both meshes keeps its part; every other proc reads the part of the proc with
 * the same rank from its registered memory.
 */
import type { TensorDeskMesh } from "../../../generated/tensor.js";
import { currentCallSite } from "../call-site.js";
import type { Tensor } from "../value/tensor.js";
import { tensorTypeOf } from "../value/tensor-type.js";
import { requireDistributed } from "./active-meshes.js";
import { exchangeActorAt } from "./exchange-actors.js";
import type { Part } from "./mesh-options.js";
import type { TensorMesh } from "./tensor-mesh.js";

const NO_MESH = "it is of no mesh";

/**
 * Returns a tensor on a part of its mesh.
 *
 * @throws {TensorError} when the tensor lives in this process
 * @throws {RangeError} when the mesh does not have the part
 */
export function redistributeToSlice(tensor: object, spec: Part): Tensor {
  const { mesh } = requireDistributed(tensor, "sliceMesh a tensor of this process", NO_MESH);
  return redistribute(tensor, mesh.slice(spec));
}

/**
 * Returns a tensor on another mesh.
 *
 * @throws {TensorError} when the tensor lives in this process
 * @throws {RangeError} when the meshes share no procs and differ in size
 */
export function redistribute(tensor: object, target: TensorMesh): Tensor {
  const { mesh, reference } = requireDistributed(tensor, "toMesh a tensor of this process", NO_MESH);
  target.check();
  const moved = tensor as Tensor;
  const sources = sourceRanks(mesh, target);
  const key = target.newExchangeKey();
  const [made, number] = target.declareResult(moved.shape, moved.dtype);
  const targets = target.procIds;
  const callSite = currentCallSite();
  for (const [rank, source] of sources.entries()) {
    const stays = mesh.procIds[source] === targets[rank];
    mesh.sendToWorkers([source], (worker) =>
      stays
        ? worker.lend.broadcast(BigInt(reference), key)
        : worker.give.broadcast(BigInt(reference), key, exchangeActorAt(target, rank) as unknown as TensorDeskMesh),
    );
  }
  target.sendToWorkers([...targets.keys()], (worker) =>
    worker.take.broadcast(key.number, [{ reference: number, type: tensorTypeOf(moved) }], "toMesh", callSite),
  );
  return made;
}

/** Returns, for each proc of the target, the rank in the mesh that its part comes from: its own, or else the same rank. */
function sourceRanks(mesh: TensorMesh, target: TensorMesh): readonly number[] {
  const { procIds } = mesh;
  const own = target.procIds.map((proc) => procIds.indexOf(proc));
  if (!own.includes(-1)) return own;
  if (procIds.length === own.length) return [...own.keys()];
  throw new RangeError(
    `cannot move a tensor from mesh ${mesh.procs} to mesh ${target.procs}: it has ${own.length} processes, which are no part of the ` +
      `${procIds.length} and not as many`,
  );
}
