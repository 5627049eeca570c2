/** Meshes whose processes hold tensors: how one is made active, and how its tensors are looked at. */
import "../../generated/registry.js";
import { availableParallelism } from "node:os";
import { inspect as inspectValue } from "node:util";
import type { Point, ProcMesh } from "../index.js";
import { addon, onRecorded } from "./addon.js";
import { TensorError } from "./errors.js";
import { type ActivateOptions, meshOf, sendSoon, TensorMesh } from "./mesh.js";
import { currentRecording } from "./recording.js";
import type { Tensor } from "./tensor.js";

onRecorded(sendSoon);

/**
 * Makes a mesh of processes hold tensors. Code that is run on it, and operations on its tensors wherever they are called, are executed
 * by every process, in order; here, shapes and types are known at once, and nothing else.
 *
 * With a function: runs it, with all that it awaits, and ends. Without: answers what runs functions, and is to be ended by `await using`.
 * @throws TensorError without the addon; RangeError for options
 */
export function activate(procs: ProcMesh<string>, options?: ActivateOptions): TensorMesh;
export function activate<T>(
  procs: ProcMesh<string>,
  call: (mesh: TensorMesh) => T | PromiseLike<T>,
  options?: ActivateOptions,
): Promise<T>;
export function activate<T>(
  procs: ProcMesh<string>,
  first?: ActivateOptions | ((mesh: TensorMesh) => T | PromiseLike<T>),
  options?: ActivateOptions,
): TensorMesh | Promise<T> {
  if (typeof first !== "function") return new TensorMesh(procs, threadsOf(procs, first));
  return runAndEnd(new TensorMesh(procs, threadsOf(procs, options)), first);
}

async function runAndEnd<T>(mesh: TensorMesh, call: (mesh: TensorMesh) => T | PromiseLike<T>): Promise<T> {
  try {
    const result = await mesh.run(() => call(mesh));
    // What was recorded last is executed as well.
    await mesh.finish();
    return result;
  } finally {
    await mesh.end();
  }
}

function threadsOf(procs: ProcMesh<string>, { threads }: ActivateOptions = {}): number {
  if (threads === undefined) return Math.max(1, Math.floor(availableParallelism() / procs.size));
  if (Number.isInteger(threads) && threads >= 1 && threads <= 4096) return threads;
  throw new RangeError(`cannot activate mesh ${procs}: threads must be an integer from 1 to 4096, got ${threads}`);
}

/**
 * A process's part of a tensor, as a tensor of this process: a copy. Dimensions that are not named are taken at 0.
 * @throws TensorError (as a rejection): the operation that made it has failed there, with its place in the code
 */
export async function inspect(tensor: Tensor, point: Readonly<Record<string, number>> = {}): Promise<Tensor> {
  const { mesh, reference } = ofMesh(tensor, "inspect");
  return mesh.fetch(reference, placeIn(mesh, point));
}

/** All processes' parts of a tensor, as text: one line for each. */
export async function show(tensor: Tensor): Promise<string> {
  const { mesh, reference } = ofMesh(tensor, "show");
  const parts = await Promise.all(
    mesh.points.map(async (point) => {
      using part = await mesh.fetch(reference, point);
      return `${point} ${inspectValue(part)}`;
    }),
  );
  return parts.join("\n");
}

/**
 * Splits a tensor of this process into equal parts along dimensions, one for each process: `shard(mesh, batch, { gpus: 0 })` cuts
 * dimension 0 of the tensor along dimension `gpus` of the mesh. Along dimensions that are not named all processes have the same.
 * @throws RangeError for dimensions that there are not, or that cannot be cut into equal parts
 */
export function shard(mesh: TensorMesh, tensor: Tensor, cuts: Readonly<Record<string, number>>): Tensor {
  const shape = [...tensor.shape];
  for (const [name, dimension] of Object.entries(cuts)) {
    const parts = mesh.extent[name];
    const size = shape[dimension];
    if (parts === undefined || size === undefined || !Number.isInteger(size / parts)) {
      throw new RangeError(
        `cannot shard a tensor of shape [${tensor.shape.join(", ")}]: dimension ${dimension} along "${name}" of ${JSON.stringify(mesh.extent)}`,
      );
    }
    shape[dimension] = size / parts;
  }
  return mesh.scatter(shape, tensor.dtype, (point) => {
    let part = tensor.view_as(tensor);
    for (const [name, dimension] of Object.entries(cuts)) {
      const size = shape[dimension]!;
      const cut = part.narrow(dimension, point.coordinates[name]! * size, size);
      part.dispose();
      part = cut;
    }
    return part;
  });
}

/** A tensor without dimensions that has each process's index along a dimension of the mesh, as `int64`. */
export function rankTensor(mesh: TensorMesh, dimension: string): Tensor {
  if (!Object.hasOwn(mesh.extent, dimension)) {
    throw new RangeError(`cannot tell ranks: ${JSON.stringify(mesh.extent)} has no dimension "${dimension}"`);
  }
  return mesh.scatter([], "int64", (point) => scalar(point.coordinates[dimension]!));
}

/**
 * Random numbers from here on: of the mesh whose code is running, the same on all its processes, or with `perRank` different ones on each;
 * otherwise of this process. The same seed gives the same numbers with the same version of libtorch.
 */
export function manualSeed(seed: number, { perRank = false }: { readonly perRank?: boolean } = {}): void {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RangeError(`cannot seed with ${seed}: expected an integer from 0 on`);
  const recording = currentRecording();
  if (recording === undefined) addon().seed(seed);
  else recording.seed(seed, perRank);
}

function scalar(value: number): Tensor {
  return addon().fromMemory(BigInt64Array.of(BigInt(value)), [], "int64") as Tensor;
}

function ofMesh(tensor: Tensor, verb: string) {
  const found = meshOf(tensor);
  if (found !== undefined) return found;
  throw new TensorError(
    "ERR_TENSOR_PLACE",
    `cannot ${verb} a tensor of this process: it has its elements; use data() or toArray()`,
  );
}

/** The place with these coordinates, and 0 for those that are not given. */
function placeIn({ points, extent }: TensorMesh, given: Readonly<Record<string, number>>): Point {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(extent, name));
  const found = points.find(({ coordinates }) =>
    Object.entries(coordinates).every(([name, index]) => index === (given[name] ?? 0)),
  );
  if (found !== undefined && unknown === undefined) return found;
  throw new RangeError(
    `cannot inspect at ${JSON.stringify(given)}: there is no such place in ${JSON.stringify(extent)}`,
  );
}
