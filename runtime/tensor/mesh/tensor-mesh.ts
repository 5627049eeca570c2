/**
 * The tensors of a mesh of processes: what is recorded here is executed by all of them. Sends what was recorded, in order, and fetches
 * what somebody wants to see.
 */
import type { TensorFailure, TensorKey, TensorWorkerMesh } from "../../../generated/tensor.js";
import { procsOf } from "../../codegen/v1/index.js";
import type { ActorMesh, MeshOf, Point, ProcMesh, Range, SpawnableClass } from "../../index.js";
import type { NativeRecorder } from "../../native/tensor-addon.js";
import { connectWorkers } from "../communicator/connect-workers.js";
import { TensorError } from "../errors.js";
import { addon } from "../operation/addon.js";
import { currentRecording, type Recording, runWithRecording } from "../operation/recording.js";
import { checkSentSize } from "../value/size-limits.js";
import type { Tensor } from "../value/tensor.js";
import { fromTensorValue, toTensorValue } from "../value/tensor-value.js";
import { elementSize } from "../value/typed-array.js";
import { StreamWorker } from "../worker.js";

/** The options of `activate`. */
export interface ActivateOptions {
  /**
   * The number of threads that one operation may use on each proc, from 1. Default: the processors of this machine
   * divided by the number of procs; set it if the procs are on several machines.
   */
  readonly threads?: number;
  /**
   * Whether an operation fails if its result contains NaN. The check reads every result, which takes time. Default:
   * false.
   */
  readonly refuseNaN?: boolean;
  /**
   * The device of the tensors: `cpu`; `cuda`, where the rank of the proc selects the device; `cuda:1`; or a function
   * that returns the device of each proc. Default: `cpu`.
   */
  readonly device?: string | ((point: Point) => string);
}

/** A part of a mesh: an index removes its dimension, a range keeps a part of it, and a point selects one proc. */
export type Part = Readonly<Record<string, number | Range>> | Point;

/** Complete: `devices` has one for all processes, or one for each, by rank; none: `cpu`. */
export interface TensorMeshOptions {
  readonly threads: number;
  readonly refuseNaN: boolean;
  readonly devices: readonly string[];
}

/** Operations after which what was recorded is sent, also if the code goes on without a pause. */
const MAX_PENDING_OPERATIONS = 1024;
/** Bytes of elements after which it is sent. */
const MAX_PENDING_BYTES = 1 << 20;

const activeMeshes = new Map<number, TensorMesh>();
let spawnCount = 0;

/** A mesh of procs that hold tensors. `ProcMesh.activate` returns it. */
export class TensorMesh implements Recording {
  /**
   * The addon's record of operations.
   *
   * @hidden
   */
  readonly recorder: NativeRecorder;
  /** The procs. */
  readonly procs: ProcMesh;
  /** By which its processes know it. @internal */
  readonly id = crypto.getRandomValues(new BigUint64Array(1))[0]!;
  readonly #workers: TensorWorkerMesh<string>;
  readonly #options: TensorMeshOptions;
  readonly #slices = new Map<string, TensorMesh>();
  /** Actors of ours beside the workers, by their class. */
  readonly #companions = new Map<SpawnableClass, ActorMesh>();
  #exchangeCount = 0n;
  #procIds: readonly bigint[] | undefined;
  /** Everything that is sent goes one after the other. */
  #sendQueue: Promise<unknown> = Promise.resolve();
  #isFlushScheduled = false;
  #pendingOperations = 0;
  #pendingBytes = 0;
  #isEnded = false;
  #isConnected = false;
  /** Why something could not be sent: the processes lack it from then on. */
  #sendError: Error | undefined;

  /**
   * Called by `activate`.
   *
   * @hidden
   */
  constructor(procs: ProcMesh, options: TensorMeshOptions) {
    const { threads, refuseNaN, devices } = options;
    this.#options = options;
    this.recorder = addon().newRecorder();
    this.procs = procs;
    this.#workers = procs.spawn(`tensors-${++spawnCount}`, StreamWorker, threads, this.id, refuseNaN, [
      ...devices,
    ]) as TensorWorkerMesh<string>;
    if (devices.length > 0) this.#enqueueSend(() => this.#checkDevices());
    activeMeshes.set(addon().recorderNumber(this.recorder), this);
  }

  /** The positions of all procs, in rank order. */
  get points(): readonly Point[] {
    return [...this.procs].map(([point]) => point);
  }

  /** The size of each dimension of the procs. */
  get extent(): Readonly<Record<string, number>> {
    return this.procs.extent;
  }

  /**
   * Runs a function whose tensors live on this mesh, also after it awaits.
   *
   * @param call the function
   * @returns its result
   * @throws {TensorError} when the mesh has ended
   */
  run<T>(call: () => T): T {
    this.check();
    return runWithRecording(this, call);
  }

  /** Whether the mesh has not ended. */
  get active(): boolean {
    return !this.#isEnded;
  }

  /** By which a tensor is known on its way between actors and its processes. @internal */
  newExchangeKey(): TensorKey {
    return { mesh: this.id, number: ++this.#exchangeCount };
  }

  /** Actors of ours beside the workers, one on each process, made when they are first asked for. They end with it. @internal */
  companionActors<C extends SpawnableClass>(name: string, actorClass: C): MeshOf<C, string> {
    let actors = this.#companions.get(actorClass);
    if (actors === undefined) {
      actors = this.procs.spawn(`tensor-${name}-${++spawnCount}`, actorClass as never, ...([] as never)) as ActorMesh;
      this.#companions.set(actorClass, actors);
    }
    return actors as MeshOf<C, string>;
  }

  /**
   * Checks that the mesh has not ended.
   *
   * @throws {TensorError} when the mesh has ended
   */
  check(): void {
    if (this.#isEnded) {
      throw new TensorError(
        "ERR_TENSOR_INACTIVE",
        `cannot use the tensors of mesh ${this.procs}: it is not active any more`,
      );
    }
  }

  /**
   * Notes that an operation has been recorded. Operations are sent when the running code pauses, or when many have been
   * recorded.
   *
   * @hidden
   * @param bytes size of the recorded operation
   */
  recorded(bytes = 0): void {
    this.#pendingBytes += bytes;
    if (++this.#pendingOperations >= MAX_PENDING_OPERATIONS || this.#pendingBytes >= MAX_PENDING_BYTES) this.#flush();
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    queueMicrotask(() => {
      this.#isFlushScheduled = false;
      if (!this.#isEnded) this.#flush();
    });
  }

  /**
   * Waits until the procs can hold tensors.
   *
   * @throws {TensorError} as a rejection, when a proc cannot
   */
  async ready(): Promise<void> {
    await this.#askAfterSends(async () => {});
  }

  /**
   * Waits until every proc has executed everything that was recorded.
   *
   * @throws {TensorError} as a rejection, when an operation has failed
   */
  async finish(): Promise<void> {
    this.check();
    this.#flush();
    await this.#askAfterSends(() => this.#workers.finish.call());
  }

  /**
   * Copies the part of a tensor that one proc holds into this process. {@link fetchShard} takes the tensor itself.
   *
   * @hidden
   * @param reference the number of the tensor
   */
  async fetch(reference: number, point: Point): Promise<Tensor> {
    this.check();
    this.#flush();
    const { value, failure } = await this.#askAfterSends(() =>
      this.#workers.at(point as never).fetch.callOne(BigInt(reference)),
    );
    if (failure !== undefined || value === undefined)
      throw fetchError(failure ?? { message: "it has no elements" }, point.rank);
    return fromTensorValue(value);
  }

  /**
   * Makes a tensor whose elements are different on each proc.
   *
   * @param shape the size of each dimension, the outermost first
   * @param dtype the type of the elements
   * @param part returns the elements of one proc, a tensor of the given shape and type
   */
  scatter(shape: readonly number[], dtype: Tensor["dtype"], part: (point: Point) => Tensor): Tensor {
    this.check();
    checkSentSize(shape.reduce((product, size) => product * size, elementSize(dtype)));
    this.#flush();
    const [made, reference] = this.declareResult(shape, dtype);
    for (const [point, worker] of this.#workers) {
      using own = part(point);
      const value = toTensorValue(own);
      this.#enqueueSend(() => worker.put.broadcast(reference, { ...value, elements: value.elements.slice() }));
    }
    return made;
  }

  /** The processes, in rank order. @internal */
  get procIds(): readonly bigint[] {
    this.#procIds ??= procsOf(this.#workers);
    return this.#procIds;
  }

  /** Something for the worker at each of these places, after all that was recorded before. @internal */
  sendToWorkers(ranks: readonly number[], message: (worker: TensorWorkerMesh<never>) => PromiseLike<unknown>): void {
    this.check();
    this.#flush();
    const { points } = this;
    for (const rank of ranks) this.#enqueueSend(() => message(this.#workers.at(points[rank] as never)));
  }

  /** A tensor that its workers are told of by themselves, and its number. @internal */
  declareResult(shape: readonly number[], dtype: Tensor["dtype"]): readonly [Tensor, bigint] {
    const made = addon().declareTensor(this.recorder, shape, dtype) as Tensor;
    return [made, BigInt(addon().recordedReferenceOf(made)![1])];
  }

  /**
   * Connects the procs to one another, before the first operation that exchanges elements.
   *
   * @hidden
   */
  connect(): void {
    this.check();
    if (this.#isConnected) return;
    this.#isConnected = true;
    this.#flush();
    this.#enqueueSend(() => connectWorkers(this.#workers, Object.values(this.extent)));
  }

  /**
   * Sets the seed of random numbers on all procs. {@link manualSeed} calls it.
   *
   * @param seed an integer from 0
   * @param ranks whether each proc gets numbers of its own
   */
  seed(seed: number, ranks: boolean): void {
    this.check();
    addon().seedRanks(this.recorder, seed, ranks);
    this.recorded();
  }

  /**
   * Returns a part of the mesh, whose tensors live on those procs only. It is active until this mesh ends. The same
   * part is the same object.
   *
   * @param spec an index or a range for each dimension, or a point
   * @throws {RangeError} when the mesh does not have the dimension or position
   */
  slice(spec: Part): TensorMesh {
    this.check();
    const procs = this.procs.slice(spec as Point) as ProcMesh;
    const key = procs.toTable();
    let part = this.#slices.get(key);
    if (part === undefined || !part.active) {
      const { devices } = this.#options;
      const own =
        devices.length > 1 ? procs.procIds.map((place) => devices[this.procs.procIds.indexOf(place)]!) : devices;
      part = new TensorMesh(procs, { ...this.#options, devices: own });
      this.#slices.set(key, part);
    }
    return part;
  }

  /** Frees all tensors on the procs. The procs go on. Ending a mesh again has no effect. */
  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    activeMeshes.delete(addon().recorderNumber(this.recorder));
    addon().closeRecorder(this.recorder);
    await Promise.all([...this.#slices.values()].map((part) => part.end()));
    await this.#sendQueue;
    await Promise.all([this.#workers, ...this.#companions.values()].map((actors) => actors.stop()));
  }

  /** Ends the mesh at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  async #checkDevices(): Promise<void> {
    try {
      await this.#workers.begin.call();
    } catch (error) {
      const { message } = error as Error;
      throw new TensorError("ERR_TENSOR_DEVICE", `cannot activate mesh ${this.procs}: ${message}`, { cause: error });
    }
  }

  #flush(): void {
    this.#pendingOperations = 0;
    this.#pendingBytes = 0;
    if (addon().pendingCommands(this.recorder) === 0) return;
    const commands = addon().takeCommands(this.recorder);
    this.#enqueueSend(() => this.#workers.run.broadcast(commands));
  }

  /** After all that was sent before. */
  #enqueueSend(send: () => PromiseLike<unknown>): void {
    this.#sendQueue = this.#sendQueue.then(async () => {
      try {
        if (this.#sendError === undefined) await send();
      } catch (error) {
        this.#sendError = error instanceof Error ? error : new Error(String(error));
      }
    });
  }

  /** Asks after all that was sent before. Questions don't wait for each other. */
  async #askAfterSends<T>(call: () => PromiseLike<T>): Promise<T> {
    await this.#sendQueue;
    if (this.#sendError instanceof TensorError) throw this.#sendError;
    if (this.#sendError !== undefined) {
      throw new TensorError(
        "ERR_TENSOR_INACTIVE",
        `cannot reach the tensors of mesh ${this.procs}: ${this.#sendError.message}`,
        {
          cause: this.#sendError,
        },
      );
    }
    return call();
  }
}

/** The mesh that a tensor is of; undefined for one of this process. @throws TensorError if it is not active any more */
export function meshOf(tensor: Tensor): { readonly mesh: TensorMesh; readonly reference: number } | undefined {
  const place = addon().recordedReferenceOf(tensor);
  if (place === null) return undefined;
  const mesh = activeMeshes.get(place[0]);
  if (mesh === undefined) {
    throw new TensorError("ERR_TENSOR_INACTIVE", "cannot use a tensor of a mesh: the mesh is not active any more");
  }
  return { mesh, reference: place[1] };
}

/** The same of a tensor that must be of one. @throws TensorError `cannot <verb>…: <why>` */
export function requireMeshOf(tensor: Tensor, verb: string, why: string) {
  const found = meshOf(tensor);
  if (found !== undefined) return found;
  throw new TensorError("ERR_TENSOR_PLACE", `cannot ${verb}: ${why}`);
}

/** The mesh whose code is running; undefined: tensors are of this process. */
export function currentMesh(): TensorMesh | undefined {
  return currentRecording() as TensorMesh | undefined;
}

/** The one whose code is running, if it is of these processes; otherwise any that is. */
export function activeMeshOf(procs: ProcMesh): TensorMesh | undefined {
  const current = currentMesh();
  if (current?.procs === procs) return current;
  return [...activeMeshes.values()].find((mesh) => mesh.procs === procs);
}

/** One that is active, and all of whose processes are these, in this order. */
export function activeMeshOnProcs(procs: readonly bigint[]): TensorMesh | undefined {
  const current = currentMesh();
  const all = current === undefined ? [...activeMeshes.values()] : [current, ...activeMeshes.values()];
  return all.find(
    ({ procIds }) => procIds.length === procs.length && procIds.every((proc, rank) => proc === procs[rank]),
  );
}

/** Called whenever an operation was recorded, for whichever mesh. */
export function scheduleSends(): void {
  for (const mesh of activeMeshes.values()) mesh.recorded();
}

function fetchError({ op, site, message, rank }: TensorFailure, from: number): TensorError {
  const called = site === undefined ? "" : `, called at ${site}`;
  const where = rank === undefined || rank === from ? "" : ` (on rank ${rank})`;
  return new TensorError("ERR_TENSOR_FAILED", `cannot fetch a tensor from rank ${from}${called}: ${message}${where}`, {
    ...(op === undefined ? {} : { op }),
    ...(site === undefined ? {} : { site }),
    rank: rank ?? from,
  });
}
