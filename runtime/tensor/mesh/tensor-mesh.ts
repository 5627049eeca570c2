/** The tensors of a mesh of procs, as their controller holds them: operations are recorded here and executed by all procs. */
import type { TensorFailure, TensorKey, TensorWorkerMesh } from "../../../generated/tensor.js";
import { procsOf } from "../../codegen/v1/index.js";
import type { ActorMesh, MeshOf, Point, ProcMesh, SpawnableClass } from "../../index.js";
import type { NativeRecorder } from "../../native/tensor-addon.js";
import { connectWorkers } from "../communicator/connect-workers.js";
import { TensorError } from "../errors.js";
import { addon } from "../operation/addon.js";
import { refuseReplay } from "../operation/capture.js";
import { beginRecording, endRecording, type Recording, runWithRecording } from "../operation/recording.js";
import { checkSentSize } from "../value/size-limits.js";
import type { Tensor } from "../value/tensor.js";
import { fromTensorValue, toTensorValue } from "../value/tensor-value.js";
import { elementSize } from "../value/typed-array.js";
import { StreamWorker } from "../worker.js";
import { CommandQueue } from "./command-queue.js";
import type { Part, TensorMeshOptions } from "./mesh-options.js";

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
  /**
   * The number by which the procs know the mesh.
   *
   * @internal
   */
  readonly id = crypto.getRandomValues(new BigUint64Array(1))[0]!;
  readonly #workers: TensorWorkerMesh<string>;
  readonly #options: TensorMeshOptions;
  readonly #slices = new Map<string, TensorMesh>();
  /** Further actors on the procs, by their class. */
  readonly #companions = new Map<SpawnableClass, ActorMesh>();
  #exchangeCount = 0n;
  #procIds: readonly bigint[] | undefined;
  readonly #commands: CommandQueue;
  #isEnded = false;
  #isConnected = false;

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
    this.#commands = new CommandQueue(this.recorder, this.#workers, String(procs));
    if (devices.length > 0) this.#commands.enqueue(() => this.#checkDevices());
    beginRecording(this);
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

  /**
   * Returns a key for one exchange of tensors between workers and actors.
   *
   * @internal
   */
  newExchangeKey(): TensorKey {
    return { mesh: this.id, number: ++this.#exchangeCount };
  }

  /**
   * Returns further actors, one on each proc. They are spawned by the first call, and end with the mesh.
   *
   * @internal
   */
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
   * Notes that something is recorded. It is sent when the running code pauses, or when it is much.
   *
   * @hidden
   */
  recorded(): void {
    this.#commands.noteRecorded();
  }

  /**
   * Waits until the procs can hold tensors.
   *
   * @throws {TensorError} as a rejection, when a proc cannot
   */
  async ready(): Promise<void> {
    await this.#commands.ask(async () => {});
  }

  /**
   * Waits until every proc has executed everything that was recorded.
   *
   * @throws {TensorError} as a rejection, when an operation has failed
   */
  async finish(): Promise<void> {
    this.check();
    refuseReplay("it waits for a mesh");
    this.#commands.flush();
    await this.#commands.ask(() => this.#workers.finish.call());
  }

  /**
   * Copies the part of a tensor that one proc holds into this process. {@link fetchShard} takes the tensor itself.
   *
   * @hidden
   * @param reference the number of the tensor
   */
  async fetch(reference: number, point: Point): Promise<Tensor> {
    this.check();
    refuseReplay("it inspects a tensor");
    this.#commands.flush();
    const { value, failure } = await this.#commands.ask(() =>
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
    refuseReplay("it sends different elements to the processes");
    checkSentSize(shape.reduce((product, size) => product * size, elementSize(dtype)));
    this.#commands.flush();
    const [made, reference] = this.declareResult(shape, dtype);
    for (const [point, worker] of this.#workers) {
      using own = part(point);
      const value = toTensorValue(own);
      this.#commands.enqueue(() => worker.put.broadcast(reference, { ...value, elements: value.elements.slice() }));
    }
    return made;
  }

  /**
   * The ids of the procs, in rank order.
   *
   * @internal
   */
  get procIds(): readonly bigint[] {
    this.#procIds ??= procsOf(this.#workers);
    return this.#procIds;
  }

  /**
   * Sends a message to the workers of these ranks, after everything that was recorded before.
   *
   * @internal
   */
  sendToWorkers(ranks: readonly number[], message: (worker: TensorWorkerMesh<never>) => PromiseLike<unknown>): void {
    this.check();
    refuseReplay("it exchanges tensors with actors or another mesh");
    this.#commands.flush();
    const { points } = this;
    for (const rank of ranks) this.#commands.enqueue(() => message(this.#workers.at(points[rank] as never)));
  }

  /**
   * Makes a recorded tensor that no operation computes. The caller tells the workers what it is.
   *
   * @returns the tensor, and the number by which the workers know it
   * @internal
   */
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
    this.#commands.flush();
    this.#commands.enqueue(() => connectWorkers(this.#workers, Object.values(this.extent)));
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
      refuseReplay("it activates a part of a mesh");
      const { devices } = this.#options;
      const own =
        devices.length > 1 ? procs.procIds.map((place) => devices[this.procs.procIds.indexOf(place)]!) : devices;
      part = new TensorMesh(procs, { ...this.#options, devices: own });
      this.#slices.set(key, part);
    }
    return part;
  }

  /** Frees all tensors on the procs. The procs keep running. Ending a mesh again has no effect. */
  async end(): Promise<void> {
    if (this.#isEnded) return;
    refuseReplay("it ends a mesh");
    this.#isEnded = true;
    endRecording(this);
    await Promise.all([...this.#slices.values()].map((part) => part.end()));
    await this.#commands.close();
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
