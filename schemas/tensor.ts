/** Tensors on the processes of a mesh: what their controller asks of each. */
import type { Actor, Uint32, Uint64 } from "viceroy/schema";

/** A tensor by its elements, contiguous and in the byte order of x86. */
export interface TensorValue {
  /** `float32`, … */
  dtype: string;
  /** Outermost first. */
  shape: Uint64[];
  elements: Uint8Array;
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
}

/** How processes of other machines reach one: each of them at an address of its own, by rank. */
export interface TensorAddresses {
  addresses: Uint8Array[];
}

export interface TensorWorker extends Actor<[threads: Uint32]> {
  /** Commands, which are executed in order, those of all calls. Does not wait for them. */
  run(commands: Uint8Array): void;
  /** A tensor of this process alone. */
  put(reference: Uint64, value: TensorValue): void;
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
