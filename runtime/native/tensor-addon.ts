/**
 * The face of the addon `native/tensor`, and how it is found. It stands on libtorch and is loaded when somebody asks for tensors, never
 * before.
 */
import { type AddonLookup, findAddon } from "./find-addon.js";

/** Types of elements, by the names that they have everywhere. */
export type Dtype =
  | "float32"
  | "float64"
  | "float16"
  | "bfloat16"
  | "int8"
  | "uint8"
  | "int16"
  | "int32"
  | "int64"
  | "bool"
  | "complex64"
  | "complex128";

/** What operations record into; the addon's own. */
export interface NativeRecorder {
  readonly __recorder: unique symbol;
}

/** What executes commands; the addon's own. */
export interface NativeStream {
  readonly __stream: unique symbol;
}

/** The version of libtorch. */
export interface NativeVersions {
  /** The version: `2.15.0`. */
  readonly torch: string;
  /** The path of the library. */
  readonly file: string;
  /** Whether procs of several machines can exchange elements. */
  readonly gloo: boolean;
  /** A description by libtorch of how it uses threads. */
  readonly parallel: string;
}

/** The version of NCCL. */
export interface NativeNccl {
  /** The version: `2.22.3`. */
  readonly version: string;
  /** The path of the library. */
  readonly file: string;
}

/** What a process of the same machine needs to know in order to exchange elements with another one. */
export interface NativePeer {
  readonly pid: number;
  readonly memory: number;
  readonly token: Uint8Array;
}

/** The memory of tensors in this process. */
export interface NativeStats {
  /** The number of bytes of the tensors of this process. */
  readonly live: number;
  /** The largest value of `live` so far. */
  readonly peak: number;
  /** The number of bytes that are kept for later tensors. */
  readonly cached: number;
  /** The number of tensors of this thread's JavaScript that have been neither disposed of nor collected. */
  readonly tensors: number;
  /** The number of bytes of those tensors. */
  readonly counted: number;
}

/** `T`: the class of tensors that the addon was given by `begin`. */
export interface TensorAddon<T extends object = object> {
  /**
   * Comes first, once in each thread.
   * @param tensors its instances are made without arguments, and wrapped
   * @param site where in a user's code an operation is recorded, for messages: a number that addCallSite has returned
   */
  initialize(tensors: new () => T, site: () => number): void;
  /** Tells a place in a user's code, as text. */
  addCallSite(site: string): number;
  /** One that is disposed of, until a tensor is moved into it. */
  emptyTensor(): T;
  /** What one tensor is becomes what another one is, which is disposed of. The first is, afterwards. */
  moveTensor(from: T, to: T): void;
  dispose(tensor: T): void;
  isDisposed(tensor: T): boolean;
  shape(tensor: T): number[];
  strides(tensor: T): number[];
  dtype(tensor: T): Dtype;
  stats(): NativeStats;

  /** @param name `aten::add`, or `aten::add.Tensor` for one overload @throws TypeError if there is none */
  operationNumber(name: string): number;
  /** @param options arguments by name @throws TypeError that names the argument; Error of libtorch */
  call(operation: number, options: object | undefined, ...args: readonly unknown[]): unknown;
  /** Schemas of the overloads that can be called, without namespace; none if there is no such operation. */
  overloadsOf(name: string): string[];
  /** Those of these names, with namespace, that this libtorch does not have. */
  missingOperations(names: readonly string[]): string[];
  /** Schemas of all of them, with namespace. */
  allSchemas(): string[];

  /** Over the memory of a view that is aligned and has the exact size. */
  fromMemory(view: ArrayBufferView, shape: readonly number[], dtype: Dtype): T;
  toMemory(tensor: T): ArrayBuffer;

  requiresGrad(tensor: T): boolean;
  setRequiresGrad(tensor: T, required: boolean): void;
  gradOf(tensor: T): T | null;
  setGrad(tensor: T, gradient: T | null): void;
  backward(outputs: readonly T[], gradients: readonly T[] | null, retain: boolean, create: boolean): void;
  grad(
    outputs: readonly T[],
    inputs: readonly T[],
    gradients: readonly T[] | null,
    retain: boolean,
    create: boolean,
  ): (T | null)[];
  /** @returns how it was */
  setGradMode(enabled: boolean): boolean;

  newRecorder(): NativeRecorder;
  /** Operations without tensors are recorded there from now on. */
  useRecorder(recorder: NativeRecorder | null): void;
  takeCommands(recorder: NativeRecorder): Uint8Array;
  pendingCommands(recorder: NativeRecorder): number;
  sendTensor(recorder: NativeRecorder, tensor: T): T;
  seedRanks(recorder: NativeRecorder, seed: number, ranks: boolean): void;
  /** A tensor of the mesh whose elements its workers are given by `putTensor`. */
  declareTensor(recorder: NativeRecorder, shape: readonly number[], dtype: Dtype): T;
  recorderNumber(recorder: NativeRecorder): number;
  /** Operations on its tensors throw from then on. */
  closeRecorder(recorder: NativeRecorder): void;
  /** Numbers of the recorder and of the tensor. Null: a tensor of this process. */
  recordedReferenceOf(tensor: T): readonly [recorder: number, reference: number] | null;

  /**
   * @param refuseNaN whether an operation that makes one has failed
   * @param device `cpu`, `cuda`, `cuda:1`
   * @param place which one `cuda` alone is: this modulo how many there are
   * @throws Error that says what there is instead
   */
  newStream(rank: number, threads: number, refuseNaN: boolean, device: string, place: number): NativeStream;
  /** Rejects if the commands are refused; then none of them has been executed. */
  submitCommands(stream: NativeStream, commands: Uint8Array): Promise<void>;
  putTensor(stream: NativeStream, reference: number, tensor: T): Promise<void>;
  /** What has failed before it could be put there. */
  failTensor(stream: NativeStream, reference: number, op: string, site: string, message: string): Promise<void>;
  /** Rejects with an Error that has `op`, `site` and `rank` if what made the tensor has failed. */
  fetchTensor(stream: NativeStream, reference: number): Promise<T>;
  streamStats(stream: NativeStream): Promise<{ readonly tensors: number; readonly calls: number }>;
  /** Comes first, once. @param ranks how many processes the mesh has */
  offerCommunicator(stream: NativeStream, rank: number, ranks: number): NativePeer;
  /** @param address of this machine @returns one for each process @throws Error if the addon was built without Gloo */
  listenForPeers(stream: NativeStream, address: string): Uint8Array[];
  /**
   * The version of the NCCL in a file, by which the stream can move elements from now on; 0: it takes no tensors of the stream's device.
   * @throws Error that says why there is none
   */
  offerNccl(stream: NativeStream, file: string): number;
  /** @throws Error that says why there is none */
  findNccl(file: string): NativeNccl;
  /**
   * @param ends of all processes: of this machine, or addresses of others
   * @param nccl whether elements move by what offerNccl was told: all must have the same
   */
  connectCommunicator(
    stream: NativeStream,
    extent: readonly number[],
    ends: readonly (NativePeer | Uint8Array)[],
    nccl: boolean,
  ): Promise<void>;
  closeStream(stream: NativeStream): void;

  setThreads(count: number): void;
  getThreads(): number;
  versions(): NativeVersions;
  emptyCache(): void;
  seed(seed: number): void;
}

let found: AddonLookup<TensorAddon> | undefined;

/** The addon, or why there is none; looked for once in each thread. */
export function tensorAddonState(): AddonLookup<TensorAddon> {
  found ??= findAddon<TensorAddon>("tensor");
  return found;
}
