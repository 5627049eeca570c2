/** What meshes of processes can do where tensors are imported: `procs.activate()`, and what belongs to it. */
import "../../generated/registry.js";
import { availableParallelism } from "node:os";
import { inspect } from "node:util";
import { ProcMesh } from "../index.js";
import { setRecordedListener } from "./addon.js";
import { TensorError } from "./errors.js";
import { type ActivateOptions, activeMeshOf, scheduleSends, TensorMesh } from "./mesh.js";
import { rankTensor } from "./shard.js";
import type { Tensor } from "./tensor.js";

declare module "../host/mesh/proc-mesh.js" {
  interface ProcMesh<D extends string = string> {
    /**
     * Makes the processes hold tensors. Code that is run on them, and operations on their tensors wherever they are called, are executed by
     * every process, in order; here, shapes and types are known at once, and nothing else. Answers what runs functions, and is to be ended
     * by `await using`. Needs `viceroy/tensor` to be imported.
     * @throws TensorError without the addon; RangeError for options. What is on a device that a process has not is told of by whatever is
     * awaited next.
     */
    activate(options?: ActivateOptions): TensorMesh;
    /** Runs a function whose tensors are of the mesh, with all that it awaits, and ends when what it has recorded has been executed. */
    activate<T>(call: (mesh: TensorMesh) => T | PromiseLike<T>, options?: ActivateOptions): Promise<T>;
    /**
     * Each process's index along a dimension, as a tensor of the mesh without dimensions, of `int64`. Needs `viceroy/tensor` to be imported.
     * @throws TensorError if this mesh is not active; RangeError for a dimension that there is not
     */
    rank(dimension: D): Tensor;
  }
}

setRecordedListener(scheduleSends);
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

/** @param asks whether the processes are asked first if they can hold tensors */
async function runThenEnd<T>(
  mesh: TensorMesh,
  call: (mesh: TensorMesh) => T | PromiseLike<T>,
  asks: boolean,
): Promise<T> {
  try {
    if (asks) await mesh.ready();
    const result = await mesh.run(() => call(mesh));
    // What was recorded last is executed as well.
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

/** One for all, or one for each process. */
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
