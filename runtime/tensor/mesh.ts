/**
 * The tensors of a mesh of processes: what is recorded here is executed by all of them. Sends what was recorded, in order, and fetches
 * what somebody wants to see.
 */
import type { TensorFailure, TensorKey, TensorWorkerMesh } from "../../generated/tensor.js";
import { procsOf } from "../codegen/v1/index.js";
import type { ActorMesh, MeshOf, Point, ProcMesh, Range, SpawnableClass } from "../index.js";
import type { NativeRecorder } from "../native/tensor-addon.js";
import { addon } from "./addon.js";
import { TensorError } from "./errors.js";
import { checkSentSize } from "./limits.js";
import { connectWorkers } from "./lines.js";
import { currentRecording, type Recording, runWithRecording } from "./recording.js";
import type { Tensor } from "./tensor.js";
import { elementSize } from "./typed-array.js";
import { fromTensorValue, toTensorValue } from "./value.js";
import { StreamWorker } from "./worker.js";

export interface ActivateOptions {
  /**
   * Threads of processors that one operation may use on each process. Default: the processors of this machine, shared among as many
   * processes as the mesh has; give it where they are on several machines.
   */
  readonly threads?: number;
  /**
   * An operation that makes NaN has failed, with its place in the code. Every result is looked at, which takes time: for finding out where
   * they come from. Default: false.
   */
  readonly refuseNaN?: boolean;
  /**
   * What tensors are on: `cpu`, `cuda`, which of its devices follows from the process's rank, or `cuda:1`. Or that of each process, by its place in
   * the mesh. Default: `cpu`.
   */
  readonly device?: string | ((point: Point) => string);
}

/** Part of a mesh: an index drops its dimension, a range keeps part of it; or one place. */
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

export class TensorMesh implements Recording {
  readonly recorder: NativeRecorder;
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

  /** Made by `procs.activate`. */
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

  /** All places, in rank order. */
  get points(): readonly Point[] {
    return [...this.procs].map(([point]) => point);
  }

  /** Dimension to size, of the processes. */
  get extent(): Readonly<Record<string, number>> {
    return this.procs.extent;
  }

  /** Runs code whose tensors are of this mesh, with all that it awaits. */
  run<T>(call: () => T): T {
    this.check();
    return runWithRecording(this, call);
  }

  /** Whether it has not ended. */
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

  check(): void {
    if (this.#isEnded) {
      throw new TensorError(
        "ERR_TENSOR_INACTIVE",
        `cannot use the tensors of mesh ${this.procs}: it is not active any more`,
      );
    }
  }

  /** Something was recorded: it is sent when the code that is running pauses, or when there is much of it. */
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

  /** Resolves when its processes can hold tensors. @throws TensorError (as a rejection) if one cannot */
  async ready(): Promise<void> {
    await this.#askAfterSends(async () => {});
  }

  /** Resolves when every process has executed all that was recorded. */
  async finish(): Promise<void> {
    this.check();
    this.#flush();
    await this.#askAfterSends(() => this.#workers.finish.call());
  }

  /** One process's part, as a tensor of this process. @throws TensorError if it has failed there */
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

  /** A tensor whose elements each process is given on its own, all of one shape and type. */
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

  /** Before the first operation between its processes: they get lines to each other, and what comes next waits for that. */
  connect(): void {
    this.check();
    if (this.#isConnected) return;
    this.#isConnected = true;
    this.#flush();
    this.#enqueueSend(() => connectWorkers(this.#workers, Object.values(this.extent)));
  }

  /** Random numbers of all processes from here on. */
  seed(seed: number, ranks: boolean): void {
    this.check();
    addon().seedRanks(this.recorder, seed, ranks);
    this.recorded();
  }

  /**
   * Part of it, active as well until this one ends: its tensors are on those processes alone. The same object for the same part.
   * @throws RangeError for dimensions or places that there are not
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

  /** Frees all its tensors on the processes, which go on. Idempotent. */
  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    activeMeshes.delete(addon().recorderNumber(this.recorder));
    addon().closeRecorder(this.recorder);
    await Promise.all([...this.#slices.values()].map((part) => part.end()));
    await this.#sendQueue;
    await Promise.all([this.#workers, ...this.#companions.values()].map((actors) => actors.stop()));
  }

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
    ({ procIds: places }) => places.length === procs.length && places.every((proc, rank) => proc === procs[rank]),
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
