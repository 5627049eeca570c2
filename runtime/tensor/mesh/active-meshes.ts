/** Finds the active mesh that a tensor, the running code or some procs belong to. */
import type { ProcMesh } from "../../index.js";
import { TensorError } from "../errors.js";
import { addon } from "../operation/addon.js";
import { activeRecording, activeRecordings, currentRecording } from "../operation/recording.js";
import type { Tensor } from "../value/tensor.js";
import type { TensorMesh } from "./tensor-mesh.js";

/** A tensor of a mesh: the mesh, and the number by which its workers know the tensor. */
export interface DistributedTensor {
  readonly mesh: TensorMesh;
  readonly reference: number;
}

/**
 * Returns the mesh of a tensor; undefined for a tensor of this process.
 *
 * @throws {TensorError} when the mesh is not active any more
 */
export function meshOf(tensor: Tensor): DistributedTensor | undefined {
  const recorded = addon().recordedReferenceOf(tensor);
  if (recorded === null) return undefined;
  const [recorder, reference] = recorded;
  const mesh = activeRecording(recorder) as TensorMesh | undefined;
  if (mesh === undefined) {
    throw new TensorError("ERR_TENSOR_INACTIVE", "cannot use a tensor of a mesh: the mesh is not active any more");
  }
  return { mesh, reference };
}

/**
 * Returns the mesh of a tensor.
 *
 * @throws {TensorError} `cannot <action>: <why>` when the tensor lives in this process
 */
export function requireDistributed(tensor: object, action: string, why: string): DistributedTensor {
  const found = meshOf(tensor as Tensor);
  if (found !== undefined) return found;
  throw new TensorError("ERR_TENSOR_PLACE", `cannot ${action}: ${why}`);
}

/** Returns the mesh whose code is running; undefined where tensors belong to this process. */
export function currentMesh(): TensorMesh | undefined {
  return currentRecording() as TensorMesh | undefined;
}

/** Returns an active mesh of the procs. The mesh whose code is running comes first. */
export function activeMeshOf(procs: ProcMesh): TensorMesh | undefined {
  return candidates().find((mesh) => mesh.procs === procs);
}

/** Returns an active mesh whose procs are exactly these, in this order. The mesh whose code is running comes first. */
export function activeMeshOnProcs(procs: readonly bigint[]): TensorMesh | undefined {
  return candidates().find(
    ({ procIds }) => procIds.length === procs.length && procIds.every((proc, rank) => proc === procs[rank]),
  );
}

function candidates(): TensorMesh[] {
  const current = currentMesh();
  const active = activeRecordings() as TensorMesh[];
  return current === undefined ? active : [current, ...active];
}
