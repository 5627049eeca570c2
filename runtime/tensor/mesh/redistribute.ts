/**
 * Tensors from one mesh to another one: of its own processes, each of which hands its part over, or of others, which read the memory
 * of theirs.
 */
import type { TensorDeskMesh } from "../../../generated/tensor.js";
import { currentCallSite } from "../call-site.js";
import type { Tensor } from "../value/tensor.js";
import { tensorTypeOf } from "../value/tensor-type.js";
import { exchangeActorAt } from "./exchange-actors.js";
import { type Part, requireMeshOf, type TensorMesh } from "./tensor-mesh.js";

/** @throws TensorError for a tensor of this process, RangeError for what is no part of its mesh */
export function redistributeToSlice(tensor: object, spec: Part): Tensor {
  const { mesh } = requireDistributed(tensor, "sliceMesh");
  return redistribute(tensor, mesh.slice(spec));
}

/** @throws TensorError for a tensor of this process, RangeError for a mesh that has other processes, and not as many */
export function redistribute(tensor: object, target: TensorMesh): Tensor {
  const { mesh, reference } = requireDistributed(tensor, "toMesh");
  target.check();
  const moved = tensor as Tensor;
  const sources = sourceRanks(mesh, target);
  const key = target.newExchangeKey();
  const [made, number] = target.declareResult(moved.shape, moved.dtype);
  const targets = target.procIds;
  const where = currentCallSite();
  for (const [rank, source] of sources.entries()) {
    const stays = mesh.procIds[source] === targets[rank];
    mesh.sendToWorkers([source], (worker) =>
      stays
        ? worker.lend.broadcast(BigInt(reference), key)
        : worker.give.broadcast(BigInt(reference), key, exchangeActorAt(target, rank) as unknown as TensorDeskMesh),
    );
  }
  target.sendToWorkers([...targets.keys()], (worker) =>
    worker.take.broadcast(key.number, [{ reference: number, type: tensorTypeOf(moved) }], "toMesh", where),
  );
  return made;
}

/** From where each process of the target gets its part: from its own, or else from the one of the same rank. */
function sourceRanks(mesh: TensorMesh, target: TensorMesh): readonly number[] {
  const { procIds } = mesh;
  const own = target.procIds.map((place) => procIds.indexOf(place));
  if (!own.includes(-1)) return own;
  if (procIds.length === own.length) return [...own.keys()];
  throw new RangeError(
    `cannot move a tensor from mesh ${mesh.procs} to mesh ${target.procs}: it has ${own.length} processes, which are no part of the ` +
      `${procIds.length} and not as many`,
  );
}

function requireDistributed(tensor: object, verb: string) {
  return requireMeshOf(tensor as Tensor, `${verb} a tensor of this process`, "it is of no mesh");
}
