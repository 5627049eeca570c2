/** How tensors of a mesh are looked at. */
import { inspect as inspectValue } from "node:util";
import type { Point } from "../index.js";
import { requireMeshOf, type TensorMesh } from "./mesh.js";
import type { Tensor } from "./tensor.js";

/**
 * A process's part of a tensor, as a tensor of this process: a copy. Dimensions that are not named are taken at 0.
 * @throws TensorError (as a rejection): the operation that made it has failed there, with its place in the code
 */
export async function inspect(tensor: Tensor, point: Readonly<Record<string, number>> = {}): Promise<Tensor> {
  const { mesh, reference } = requireDistributed(tensor, "inspect");
  return mesh.fetch(reference, pointAt(mesh, point));
}

/** The same for the process at a place of the mesh: `for (const point of mesh.points) await fetchShard(t, point)`. */
export async function fetchShard(tensor: Tensor, point: Point): Promise<Tensor> {
  return inspect(tensor, point.coordinates);
}

/** All processes' parts of a tensor, as text: one line for each. */
export async function show(tensor: Tensor): Promise<string> {
  const { mesh, reference } = requireDistributed(tensor, "show");
  const parts = await Promise.all(
    mesh.points.map(async (point) => {
      using part = await mesh.fetch(reference, point);
      return `${point} ${inspectValue(part)}`;
    }),
  );
  return parts.join("\n");
}

function requireDistributed(tensor: Tensor, verb: string) {
  return requireMeshOf(tensor, `${verb} a tensor of this process`, "it has its elements; use data() or toArray()");
}

/** The place with these coordinates, and 0 for those that are not given. */
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
