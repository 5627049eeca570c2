/** The actors that hold the tensors of a mesh. The controller of the mesh sends them commands. */
import type { Actor, Mesh, Oneof, RdmaBuffer, Uint32, Uint64 } from "viceroy/schema";

/** The elements of a tensor, contiguous and little-endian. */
export interface TensorValue {
  /** The name of the element type: `float32`, … */
  dtype: string;
  /** The sizes of the dimensions, outermost first. */
  shape: Uint64[];
  elements: Uint8Array;
}

/**
 * The key of a tensor that is passed from a mesh of tensors to an actor or back. Its process finds the tensor by this
 * key.
 */
export interface TensorKey {
  /** The mesh of the tensor. */
  mesh: Uint64;
  /** The number of the exchange, unique in the mesh. */
  number: Uint64;
}

/** A tensor in a message. */
export type SentTensor = Oneof<{
  value: TensorValue;
  /** The key of a tensor of a mesh. The receiver's own process gets the elements separately. */
  lent: TensorKey;
}>;

/** The type of a tensor in another process. */
export interface TensorType {
  dtype: string;
  /** The sizes of the dimensions, outermost first. */
  shape: Uint64[];
}

/** The description of an answer that stays in the process of its actor. */
export interface KeptAnswer {
  types: TensorType[];
  /** Whether the answer is a list of tensors. Otherwise, it is one tensor. */
  list: boolean;
}

/** A tensor of the mesh that receives an actor's answer. */
export interface TakenTensor {
  reference: Uint64;
  type: TensorType;
}

/** The reason why a tensor has no elements. */
export interface TensorFailure {
  /** The first operation that failed. Absent: commands were rejected. */
  op?: string;
  /** The call site in the controller's code. */
  site?: string;
  message: string;
  /** The rank of the failure. Absent: the rank from which the tensor was fetched. */
  rank?: Uint32;
}

export interface FetchedTensor {
  value?: TensorValue;
  failure?: TensorFailure;
}

/** The counts of one worker. */
export interface TensorCounts {
  tensors: Uint64;
  calls: Uint64;
}

/** The shared memory by which processes of the same machine exchange elements with a process. */
export interface TensorEnd {
  /** The id of the machine. It is equal for all processes that can open each other's memory. */
  machine: string;
  pid: Uint32;
  /** The file descriptor of the memory in its process. */
  memory: Uint32;
  /** The first bytes of the memory, by which another process verifies that it has opened the correct memory. */
  token: Uint8Array;
  /** The version of NCCL with which the process can exchange elements: 22203 for 2.22.3. Absent: none. */
  nccl?: Uint32;
}

/** The addresses of a process for processes of other machines, one for each rank. */
export interface TensorAddresses {
  addresses: Uint8Array[];
}

/**
 * Executes the commands of a mesh on one process. `devices` contains one device for all processes or one for each rank.
 * The default is the processor.
 */
export interface TensorWorker extends Actor<[threads: Uint32, mesh?: Uint64, refuseNaN?: boolean, devices?: string[]]> {
  /** Returns if the worker can hold tensors on its device. */
  begin(): void;
  /** Queues commands. The commands of all calls are executed in order. The call does not wait for them. */
  run(commands: Uint8Array): void;
  /** Creates a tensor in this process only. */
  put(reference: Uint64, value: TensorValue): void;
  /** Passes a copy of a tensor to the receiver in this process that expects the key. */
  lend(reference: Uint64, key: TensorKey): void;
  /** Passes a copy of a tensor to the process of a `TensorDesk` whose receiver expects the key. */
  give(reference: Uint64, key: TensorKey, to: Mesh<TensorDesk>): void;
  /**
   * Receives the answer of an actor as tensors of the mesh. Later commands wait for the answer.
   * @param op the name of the endpoint that answers
   * @param site the call site in the controller's code
   */
  take(number: Uint64, tensors: TakenTensor[], op: string, site: string): void;
  /**
   * Returns a tensor after all earlier commands have been executed.
   * @concurrent
   */
  fetch(reference: Uint64): FetchedTensor;
  /** Offers shared memory for the exchange of elements. It is called once, before `listen` and `join`. */
  offer(ranks: Uint32): TensorEnd;
  /** Returns addresses for processes of other machines. */
  listen(): TensorAddresses;
  /**
   * Connects to all other processes. `addresses` is used for processes of other machines and empty if there are none.
   * @param extent the sizes of the dimensions of the mesh
   */
  join(extent: Uint32[], ends: TensorEnd[], addresses: TensorAddresses[]): void;
  /**
   * Returns when all earlier commands have been executed.
   * @concurrent
   */
  finish(): TensorCounts;
}

/** Receives tensors for the actors of a process, which can be waiting for them. */
export interface TensorDesk extends Actor {
  /** Reports that an expected tensor will not arrive. Its receiver fails. */
  fail(key: TensorKey, message: string): void;
  /** Drops a tensor that no receiver will take. */
  drop(key: TensorKey): void;
  /**
   * Reads a tensor from registered memory.
   * @concurrent
   */
  pull(key: TensorKey, type: TensorType, elements?: RdmaBuffer): void;
}

/** A function that a module of the project registers under a name. */
export interface RemoteName {
  /** The location of the module, which is the same for all processes. */
  module: string;
  name: string;
}

/** JSON values that contain tensors. */
export interface RemoteValues {
  /** The values. `{"$tensor": i}` stands for tensor `i`. */
  json: string;
  /** The encoded tensors. */
  tensors: Uint8Array[];
}

/** Runs functions of the project. */
export interface TensorRunner extends Actor {
  run(called: RemoteName, args: RemoteValues): RemoteValues;
  /** Runs a function. The answer stays in this process under the key. */
  keep(called: RemoteName, key: TensorKey, args: RemoteValues): KeptAnswer;
}
