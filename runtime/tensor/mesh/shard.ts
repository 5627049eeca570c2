/** Tensors whose elements differ between the procs of a mesh. */

import type { TensorData } from "../argument-types.js";
import { TensorError } from "../errors.js";
import { addon } from "../operation/addon.js";
import { runWithRecording } from "../operation/recording.js";
import { type TensorOptions, tensor } from "../value/create-tensor.js";
import { isTensor, type Nested, type Tensor } from "../value/tensor.js";
import { currentMesh } from "./active-meshes.js";
import type { TensorMesh } from "./tensor-mesh.js";

/**
 * Splits a tensor into equal parts, one for each proc of the active mesh: `shard(batch, { gpus: 0 })` cuts dimension 0
 * of the tensor along the dimension `gpus` of the mesh. Along other dimensions of the mesh, all procs have the same
 * elements.
 *
 * @param values a tensor of this process, or values for {@link tensor}
 * @param cuts the dimension of the tensor, from 0, for each dimension of the mesh to cut along
 * @param options type and shape of the values
 * @throws {TensorError} when no mesh is active
 * @throws {RangeError} when a dimension does not exist, or cannot be cut into equal parts
 */
export function shard(
  values: Tensor | Nested | TensorData,
  cuts: Readonly<Record<string, number>>,
  options: TensorOptions = {},
): Tensor {
  const mesh = currentMesh();
  if (mesh === undefined) {
    throw new TensorError(
      "ERR_TENSOR_INACTIVE",
      "cannot shard a tensor: no mesh is active; call it in the function that procs.activate() runs",
    );
  }
  if (isTensor(values)) return scatterShards(mesh, values, cuts);
  using local = runWithRecording(undefined, () => tensor(values, options));
  return scatterShards(mesh, local, cuts);
}

function scatterShards(mesh: TensorMesh, local: Tensor, cuts: Readonly<Record<string, number>>): Tensor {
  const shape = [...local.shape];
  for (const [name, dimension] of Object.entries(cuts)) {
    const parts = mesh.extent[name];
    const size = shape[dimension];
    const why =
      parts === undefined
        ? `the mesh ${JSON.stringify(mesh.extent)} has no dimension "${name}"`
        : size === undefined
          ? `it has no dimension ${String(dimension)} to cut along "${name}"`
          : `dimension ${dimension} cannot be cut into ${parts} equal parts, one for each of "${name}"`;
    if (parts === undefined || size === undefined || !Number.isInteger(size / parts)) {
      throw new RangeError(`cannot shard a tensor of shape [${local.shape.join(", ")}]: ${why}`);
    }
    shape[dimension] = size / parts;
  }
  return mesh.scatter(shape, local.dtype, (point) => {
    let part = local.view_as(local);
    for (const [name, dimension] of Object.entries(cuts)) {
      const size = shape[dimension]!;
      const cut = part.narrow(dimension, point.coordinates[name]! * size, size);
      part.dispose();
      part = cut;
    }
    return part;
  });
}

/** Returns a tensor without dimensions that contains the index of each proc along a dimension of the mesh, as `int64`. */
export function rankTensor(mesh: TensorMesh, dimension: string): Tensor {
  if (!Object.hasOwn(mesh.extent, dimension)) {
    throw new RangeError(`cannot tell ranks: ${JSON.stringify(mesh.extent)} has no dimension "${dimension}"`);
  }
  return mesh.scatter([], "int64", (point) => scalar(point.coordinates[dimension]!));
}

function scalar(value: number): Tensor {
  return addon().fromMemory(BigInt64Array.of(BigInt(value)), [], "int64") as Tensor;
}
