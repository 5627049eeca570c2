/** Adds `activate` and `rank` to proc meshes when `viceroy/tensor` is imported. */
import "../../generated/registry.js";
import { availableParallelism } from "node:os";
import { inspect } from "node:util";
import { ProcMesh } from "../index.js";
import { TensorError } from "./errors.js";
import { activeMeshOf } from "./mesh/active-meshes.js";
import type { ActivateOptions } from "./mesh/mesh-options.js";
import { rankTensor } from "./mesh/shard.js";
import { TensorMesh } from "./mesh/tensor-mesh.js";
import type { Tensor } from "./value/tensor.js";

declare module "../host/mesh/proc-mesh.js" {
  interface ProcMesh<D extends string = string> {
    /**
     * Lets the procs hold tensors. Operations on their tensors are recorded in the calling process, where shapes and
     * types are known at once, and executed by every proc, in order. Importing `viceroy/tensor` adds this method.
     *
     * @param options threads, devices and checks
     * @returns the tensor mesh; end it with `await using` or `end`
     * @throws {TensorError} when the addon is missing
     * @throws {TypeError} when an option is malformed
     * @throws {RangeError} when a number is out of range
     */
    activate(options?: ActivateOptions): TensorMesh;
    /**
     * Runs a function whose tensors live on the procs. The result resolves when everything that the function has
     * recorded has been executed.
     *
     * @example
     * ```ts
     * import { thisHost } from "viceroy";
     * import { inspect, shard } from "viceroy/tensor";
     *
     * await using procs = thisHost().spawnProcs({ gpus: 2 });
     * await procs.activate(async () => {
     *   const part = shard([[1, 2], [3, 4]], { gpus: 0 });
     *   const sum = part.reduce("gpus", "sum");
     *   console.log((await inspect(sum)).toArray()); // [[4, 6]]
     * });
     * ```
     *
     * @param call the function, which may be asynchronous
     * @param options threads, devices and checks
     * @returns the result of the function
     * @throws {TensorError} as a rejection, when an operation has failed on a proc, or a proc cannot use its device
     */
    activate<T>(call: (mesh: TensorMesh) => T | PromiseLike<T>, options?: ActivateOptions): Promise<T>;
    /**
     * Returns the index of each proc along a dimension, as a tensor without dimensions of the type `int64`. Importing
     * `viceroy/tensor` adds this method.
     *
     * @param dimension a dimension of this mesh
     * @throws {TensorError} when this mesh is not active
     * @throws {RangeError} when the mesh does not have the dimension
     */
    rank(dimension: D): Tensor;
  }
}

defineMethod("activate", activate);
defineMethod("rank", rank);

function activate<T>(
  this: ProcMesh,
  first?: ActivateOptions | ((mesh: TensorMesh) => T | PromiseLike<T>),
  options?: ActivateOptions,
): TensorMesh | Promise<T> {
  if (typeof first !== "function") return startMesh(this, first);
  return runThenEnd(startMesh(this, options), first, options?.device !== undefined);
}

function rank(this: ProcMesh, dimension: string): Tensor {
  const mesh = activeMeshOf(this);
  if (mesh !== undefined) return rankTensor(mesh, dimension);
  throw new TensorError(
    "ERR_TENSOR_INACTIVE",
    `cannot tell ranks: ${this} is not active; call it in the function that activate() of the same mesh runs`,
  );
}

const optionNames = ["threads", "refuseNaN", "device"];

function startMesh(procs: ProcMesh, options: ActivateOptions = {}): TensorMesh {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`cannot activate mesh ${procs}: expected a function or options, got ${inspect(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `cannot activate mesh ${procs}: expected one of the options ${optionNames.join(", ")}, got ${JSON.stringify(unknown)}`,
    );
  }
  const { refuseNaN = false } = options;
  return new TensorMesh(procs, { threads: threadsOf(procs, options), refuseNaN, devices: devicesOf(procs, options) });
}

/** @param asks whether to check first that the procs can hold tensors */
async function runThenEnd<T>(
  mesh: TensorMesh,
  call: (mesh: TensorMesh) => T | PromiseLike<T>,
  asks: boolean,
): Promise<T> {
  try {
    if (asks) await mesh.ready();
    const result = await mesh.run(() => call(mesh));
    // Waits for the operations that were recorded last.
    await mesh.finish();
    return result;
  } finally {
    await mesh.end();
  }
}

function threadsOf(procs: ProcMesh, { threads }: ActivateOptions): number {
  if (threads === undefined) return Math.max(1, Math.floor(availableParallelism() / procs.size));
  if (Number.isInteger(threads) && threads >= 1 && threads <= 4096) return threads;
  throw new RangeError(`cannot activate mesh ${procs}: threads must be an integer from 1 to 4096, got ${threads}`);
}

/** Returns one device for all procs, or one for each proc. */
function devicesOf(procs: ProcMesh, { device }: ActivateOptions): readonly string[] {
  if (device === undefined) return [];
  const devices = typeof device === "function" ? [...procs].map(([point]) => device(point)) : [device];
  const unknown = devices.findIndex((one) => !/^(cpu|cuda(:\d{1,3})?)$/.test(one));
  if (unknown < 0) return devices;
  throw new RangeError(
    `cannot activate mesh ${procs}: device must be "cpu", "cuda" or "cuda:" and a number, got ${JSON.stringify(devices[unknown])}`,
  );
}

function defineMethod(name: "activate" | "rank", value: unknown): void {
  Object.defineProperty(ProcMesh.prototype, name, { value, configurable: true, writable: true });
}
