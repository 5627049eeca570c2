/** Tensors on the processes of a mesh: what their controller asks of each. */
import type { Actor, Mesh, Oneof, RdmaBuffer, Uint32, Uint64 } from "viceroy/schema";

/** A tensor by its elements, contiguous and in the byte order of x86. */
export interface TensorValue {
  /** `float32`, … */
  dtype: string;
  /** Outermost first. */
  shape: Uint64[];
  elements: Uint8Array;
}

/** By which a process finds a tensor that goes from its tensors of a mesh to an actor, or back. */
export interface TensorKey {
  /** The mesh that the tensor is of. */
  mesh: Uint64;
  /** Of this one, in the mesh. */
  number: Uint64;
}

/** A tensor in a message. */
export type SentTensor = Oneof<{
  value: TensorValue;
  /** What its receiver's own process has of a tensor of a mesh, which comes by itself. */
  lent: TensorKey;
}>;

/** What is known of a tensor that is elsewhere. */
export interface TensorType {
  dtype: string;
  /** Outermost first. */
  shape: Uint64[];
}

/** What is told of an answer that stays with its actor. */
export interface KeptAnswer {
  types: TensorType[];
  /** Whether it is a list, and not one tensor. */
  list: boolean;
}

/** A tensor of the mesh that an actor's answer is to be. */
export interface TakenTensor {
  reference: Uint64;
  type: TensorType;
}

/** Why there are no elements. */
export interface TensorFailure {
  /** The operation that has failed first. Absent: commands were refused. */
  op?: string;
  /** In the controller's code. */
  site?: string;
  message: string;
  /** Where in the mesh it has failed; absent: where it was fetched from. */
  rank?: Uint32;
}

export interface FetchedTensor {
  value?: TensorValue;
  failure?: TensorFailure;
}

/** What one worker has come to. */
export interface TensorCounts {
  tensors: Uint64;
  calls: Uint64;
}

/** How processes of the same machine reach one. */
export interface TensorEnd {
  /** The same for all that can open each other's memory. */
  machine: string;
  pid: Uint32;
  /** The number that its memory has there. */
  memory: Uint32;
  /** What its memory begins with. */
  token: Uint8Array;
  /** The version of NCCL that it can move elements by, as 22203 for 2.22.3. Absent: none. */
  nccl?: Uint32;
}

/** How processes of other machines reach one: each of them at an address of its own, by rank. */
export interface TensorAddresses {
  addresses: Uint8Array[];
}

/** `devices`: what its tensors are on, one name for all processes, or one for each, by rank. None: processors. */
export interface TensorWorker extends Actor<[threads: Uint32, mesh?: Uint64, refuseNaN?: boolean, devices?: string[]]> {
  /** Answers if it can hold tensors where it was told to. */
  begin(): void;
  /** Commands, which are executed in order, those of all calls. Does not wait for them. */
  run(commands: Uint8Array): void;
  /** A tensor of this process alone. */
  put(reference: Uint64, value: TensorValue): void;
  /** Gives a copy to whoever in its process has been told the key. */
  lend(reference: Uint64, key: TensorKey): void;
  /** Gives a copy to whoever has been told the key in the process of a desk. */
  give(reference: Uint64, key: TensorKey, to: Mesh<TensorDesk>): void;
  /**
   * An actor's answer becomes these tensors. What comes later waits for it.
   * @param op who answers
   * @param site where in the controller's code it was called
   */
  take(number: Uint64, tensors: TakenTensor[], op: string, site: string): void;
  /**
   * After all that came before.
   * @concurrent
   */
  fetch(reference: Uint64): FetchedTensor;
  /** Comes first of what lets processes exchange elements, once. */
  offer(ranks: Uint32): TensorEnd;
  /** For machines that are not the same. */
  listen(): TensorAddresses;
  /**
   * Reaches all others, those of other machines by their addresses, which are none where all are on one.
   * @param extent sizes of the dimensions of the mesh
   */
  join(extent: Uint32[], ends: TensorEnd[], addresses: TensorAddresses[]): void;
  /**
   * Answers when all that came before has been executed.
   * @concurrent
   */
  finish(): TensorCounts;
}

/** What a process is told and given beside its tensors, which may be waiting for it. */
export interface TensorDesk extends Actor {
  /** What is waited for will not come: what was to become of it fails. */
  fail(key: TensorKey, message: string): void;
  /** Nobody will take what has come. */
  drop(key: TensorKey): void;
  /**
   * A tensor by its memory, which is read.
   * @concurrent
   */
  pull(key: TensorKey, type: TensorType, elements?: RdmaBuffer): void;
}

/** A function that a module of the project makes known by its name. */
export interface RemoteName {
  /** The module's place, which is the same for all processes. */
  module: string;
  name: string;
}

/** Values of any shape that JSON has, with tensors in them. */
export interface RemoteValues {
  /** With `{"$tensor": i}` for tensor `i`. */
  json: string;
  /** Each as a message has it. */
  tensors: Uint8Array[];
}

/** Runs functions of the project. */
export interface TensorRunner extends Actor {
  run(called: RemoteName, args: RemoteValues): RemoteValues;
  /** The answer stays here, under the key. */
  keep(called: RemoteName, key: TensorKey, args: RemoteValues): KeptAnswer;
}
