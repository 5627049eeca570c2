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
  /**
   * Answers when all that came before has been executed.
   * @concurrent
   */
  finish(): TensorCounts;
}
