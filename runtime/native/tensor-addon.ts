/**
 * The interface of the addon `native/tensor`, and its lookup. The addon uses libtorch. It is loaded only when a program
 * uses tensors.
 */
import { type AddonLookup, findAddon } from "./find-addon.js";
import type { StackSampler } from "./stack-addon.js";

/** The types of tensor elements. The names are those of PyTorch. */
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

/** A recorder of operations; an object of the addon. */
export interface NativeRecorder {
  readonly __recorder: unique symbol;
}

/** The calls of a step with arguments of certain shapes; an object of the addon. */
export interface NativeStepProgram {
  readonly __stepProgram: unique symbol;
}

/** A stream that executes commands; an object of the addon. */
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

/** The data that another process of the same machine needs to exchange elements with this one. */
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

/** The functions of the addon. `T` is the class of tensors that `initialize` received. */
export interface TensorAddon<T extends object = object> {
  /**
   * Must be called first, once in each thread.
   * @param tensors the class of tensors; the addon creates instances without arguments, and wraps them
   * @param site returns the call site of the operation that is being recorded, for messages: a number from
   * `addCallSite`
   * @param noteRecorded is told the number of a recorder before its first operation since `takeCommands`, and before
   * each one as long as it is full
   * @param sampler `sampler` of the addon `stack`; with it, the addon remembers call sites
   * @param locateSite is called instead of `site` if there is a sampler. It also returns the depth of the site: the number
   * of frames of JavaScript from the one that called the addon to that of the site, both included
   */
  initialize(
    tensors: new () => T,
    site: () => number,
    noteRecorded: (recorder: number) => void,
    sampler?: StackSampler,
    locateSite?: () => readonly [site: number, depth: number],
  ): void;
  /** Registers a call site in the user's code as text, and returns its number. */
  addCallSite(site: string): number;
  /** Returns a tensor that counts as disposed of until another tensor is moved into it. */
  emptyTensor(): T;
  /**
   * Moves the content of `from` into `to`, which must be a tensor that is disposed of. Afterwards `from` is disposed
   * of.
   */
  moveTensor(from: T, to: T): void;
  dispose(tensor: T): void;
  isDisposed(tensor: T): boolean;
  shape(tensor: T): number[];
  strides(tensor: T): number[];
  dtype(tensor: T): Dtype;
  stats(): NativeStats;

  /**
   * @param name `aten::add`, or `aten::add.Tensor` for one overload
   * @throws TypeError if the operation does not exist
   */
  operationNumber(name: string): number;
  /**
   * @param options arguments by name
   * @throws TypeError that names the argument; Error from libtorch
   */
  call(operation: number, options: object | undefined, ...args: readonly unknown[]): unknown;
  /**
   * Returns the schemas of the overloads that can be called, without namespace. Empty if the operation does not exist.
   */
  overloadsOf(name: string): string[];
  /** Returns those of the names, with namespace, that this libtorch does not have. */
  missingOperations(names: readonly string[]): string[];
  /** Returns the schemas of all operations, with namespace. */
  allSchemas(): string[];

  /** Makes a tensor that uses the memory of a view. The view must be aligned and have the exact size. */
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
  /** @returns the previous mode */
  setGradMode(enabled: boolean): boolean;

  newRecorder(): NativeRecorder;
  /** Selects the recorder for operations without tensor arguments; null selects none. */
  useRecorder(recorder: NativeRecorder | null): void;
  takeCommands(recorder: NativeRecorder): Uint8Array;
  /** Returns whether so much has been recorded that it must be sent although the code has not paused. */
  isFull(recorder: NativeRecorder): boolean;
  sendTensor(recorder: NativeRecorder, tensor: T): T;
  seedRanks(recorder: NativeRecorder, seed: number, ranks: boolean): void;
  /** Declares a tensor of the mesh whose elements its workers receive by `putTensor`. */
  declareTensor(recorder: NativeRecorder, shape: readonly number[], dtype: Dtype): T;
  recorderNumber(recorder: NativeRecorder): number;
  /** Closes a recorder. Operations on its tensors throw afterwards. */
  closeRecorder(recorder: NativeRecorder): void;
  /** Returns the numbers of the recorder and of the tensor, or null for a tensor of this process. */
  recordedReferenceOf(tensor: T): readonly [recorder: number, reference: number] | null;

  /** @param args tensors of the recorder, as for the following functions */
  newStepProgram(recorder: NativeRecorder, args: readonly T[]): NativeStepProgram;
  /** Returns whether arguments have the shapes, types and strides of those of the program. */
  matchesStep(program: NativeStepProgram, args: readonly T[]): boolean;
  /** Captures what is recorded from now on, until `endCapture` or `cancelCapture`. */
  beginCapture(program: NativeStepProgram, args: readonly T[]): void;
  /**
   * @param numbers the number of marked numbers
   * @param refusal why the call cannot be replayed, or empty
   * @returns whether replays would repeat this call, and why the next call is not replayed, or empty
   */
  endCapture(
    program: NativeStepProgram,
    results: readonly T[],
    numbers: number,
    refusal: string,
  ): { readonly compared: boolean; readonly why: string };
  cancelCapture(program: NativeStepProgram): void;
  /** Returns the tensor without its gradient. `site` is the recorded call site, a number from `addCallSite`. */
  detachResult(tensor: T, site: number): T;
  /** Sets whether the numbers of the next operation change from replay to replay. Has no effect outside of a capture. */
  markNumbers(marks: boolean): void;
  /** Returns why a call cannot be replayed, or an empty text. */
  whyNotReplayed(program: NativeStepProgram, args: readonly T[]): string;
  /** Must follow `whyNotReplayed`. Returns the results. */
  replayStep(program: NativeStepProgram, args: readonly T[], numbers: Float64Array): T[];
  /** Forgets the captured calls, and the program of the workers. */
  forgetStep(program: NativeStepProgram): void;

  /**
   * @param refuseNaN whether an operation that produces NaN fails
   * @param device `cpu`, `cuda`, `cuda:1`
   * @param place selects the device for `cuda` without a number: `place` modulo the number of devices
   * @throws Error that names the available devices
   */
  newStream(rank: number, threads: number, refuseNaN: boolean, device: string, place: number): NativeStream;
  /** Rejects if the commands are refused. Then none of them has been executed. */
  submitCommands(stream: NativeStream, commands: Uint8Array): Promise<void>;
  putTensor(stream: NativeStream, reference: number, tensor: T): Promise<void>;
  /** Records that the tensor with this reference has failed before it could be put there. */
  failTensor(stream: NativeStream, reference: number, op: string, site: string, message: string): Promise<void>;
  /** Rejects with an Error that has `op`, `site` and `rank` if the operation that makes the tensor has failed. */
  fetchTensor(stream: NativeStream, reference: number): Promise<T>;
  streamStats(stream: NativeStream): Promise<{ readonly tensors: number; readonly calls: number }>;
  /**
   * Must be called before the other functions of the communicator, once.
   * @param ranks the number of processes of the mesh
   */
  offerCommunicator(stream: NativeStream, rank: number, ranks: number): NativePeer;
  /**
   * @param address an address of this machine
   * @returns one address for each process
   * @throws Error if the addon was built without Gloo
   */
  listenForPeers(stream: NativeStream, address: string): Uint8Array[];
  /**
   * Loads NCCL from a file, so that the stream can move elements with it. Returns its version, or 0 if NCCL does not
   * support the stream's device.
   * @throws Error with the reason why NCCL cannot be used
   */
  offerNccl(stream: NativeStream, file: string): number;
  /** @throws Error with the reason why NCCL cannot be used */
  findNccl(file: string): NativeNccl;
  /**
   * @param peers one entry for each rank: a peer of this machine, or the address of a peer of another machine
   * @param nccl whether elements move by the NCCL of `offerNccl`; all processes must pass the same value
   */
  connectCommunicator(
    stream: NativeStream,
    extent: readonly number[],
    peers: readonly (NativePeer | Uint8Array)[],
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

/** Returns the addon, or the reason why there is none. Looks for it once per thread. */
export function tensorAddonState(): AddonLookup<TensorAddon> {
  found ??= findAddon<TensorAddon>("tensor");
  return found;
}
