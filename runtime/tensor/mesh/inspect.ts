/** Copies parts of tensors of a mesh into this process. */
import { inspect as inspectValue } from "node:util";
import type { Point } from "../../index.js";
import type { Tensor } from "../value/tensor.js";
import { requireDistributed } from "./active-meshes.js";
import type { TensorMesh } from "./tensor-mesh.js";

const LOCAL = "it has its elements; use data() or toArray()";

/**
 * Copies the part of a tensor that one proc holds into this process.
 *
 * @param tensor a tensor of a mesh
 * @param point the index of the proc in each dimension; dimensions that are not mentioned are 0
 * @returns a tensor of this process
 * @throws {TensorError} as a rejection, when the operation that made the tensor has failed on the proc
 */
export async function inspect(tensor: Tensor, point: Readonly<Record<string, number>> = {}): Promise<Tensor> {
  const { mesh, reference } = requireDistributed(tensor, "inspect a tensor of this process", LOCAL);
  return mesh.fetch(reference, pointAt(mesh, point));
}

/**
 * Copies the part of a tensor that one proc holds into this process.
 *
 * @param tensor a tensor of a mesh
 * @param point the position of the proc
 * @returns a tensor of this process
 * @throws {TensorError} as a rejection, when the operation that made the tensor has failed on the proc
 */
export async function fetchShard(tensor: Tensor, point: Point): Promise<Tensor> {
  return inspect(tensor, point.coordinates);
}

/** Returns the parts of a tensor on all procs as text, with one line for each proc. */
export async function show(tensor: Tensor): Promise<string> {
  const { mesh, reference } = requireDistributed(tensor, "show a tensor of this process", LOCAL);
  const parts = await Promise.all(
    mesh.points.map(async (point) => {
      using part = await mesh.fetch(reference, point);
      return `${point} ${inspectValue(part)}`;
    }),
  );
  return parts.join("\n");
}

/** Returns the position with these coordinates; a dimension that is not given has the index 0. */
function pointAt({ points, extent }: TensorMesh, given: Readonly<Record<string, number>>): Point {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(extent, name));
  const found = points.find(({ coordinates }) =>
    Object.entries(coordinates).every(([name, index]) => index === (given[name] ?? 0)),
  );
  if (found !== undefined && unknown === undefined) return found;
  throw new RangeError(
    `cannot inspect at ${JSON.stringify(given)}: there is no such place in ${JSON.stringify(extent)}`,
  );
}
