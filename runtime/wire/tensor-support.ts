/**
 * What endpoints that take or answer tensors need of `viceroy/tensor`. Generated code hands it to them, so that programs without
 * tensors load nothing of it.
 */
import type { Codec } from "./codec.js";
import type { MessageLayout } from "./message-layout.js";

/** The codec of a list of arguments. */
export interface ArgumentsLayout extends MessageLayout<readonly unknown[]> {
  /** The codec that describes the structure, if this one does more than encode. */
  readonly plain?: MessageLayout<readonly unknown[]>;
}

/** The receivers of a message. */
export interface Addressed {
  /** The endpoint: `models.forward`. */
  readonly label: string;
  /** The procs of the receivers, in rank order. */
  readonly procs: readonly bigint[];
}

/** The outcome of a call whose answer stays with the actor: shape and type of the answer, or the error. */
export type Kept =
  | { readonly status: "fulfilled"; readonly value: unknown }
  | { readonly status: "rejected"; readonly reason: unknown };

/** A call whose answers stay with the actors. */
export interface KeptCall extends Addressed {
  /** The arguments. */
  readonly args: readonly unknown[];
  /**
   * Sends the call.
   *
   * @param key under which the answers are found
   */
  send(key: unknown): PromiseLike<Iterable<Kept>>;
}

/** The handling of a message by an actor. */
export interface TensorTurn {
  /** The actor and the endpoint: `counters[0].value`. */
  readonly label: string;
  /** The actor, as call chains identify it. */
  readonly token: readonly [number, number];
  /** Returns whether a call that the given actor has made, directly or through others, waits for this handler. */
  isAwaitedBy(token: readonly [number, number]): boolean;
}

/**
 * The hooks that `viceroy/tensor` has in endpoints that take or return tensors. Programs without tensors load nothing
 * of it.
 */
export interface TensorSupport {
  /** Whether the endpoint has `rref`. */
  readonly propagates: boolean;

  /** Sends a message. Tensors of a mesh among its arguments become tensors of the receivers. */
  lend<T>(to: Addressed, send: () => T): T;
  /** Returns a codec of the arguments that lends tensors while it encodes. */
  sending(layout: ArgumentsLayout): ArgumentsLayout;
  /** Returns a codec of the arguments that notes tensors whose elements arrive later. */
  receiving(layout: ArgumentsLayout): ArgumentsLayout;
  /**
   * Resolves when the elements of all tensors among the arguments have arrived; undefined if they have. Rejects with
   * the reason if they cannot arrive.
   */
  arriving(args: readonly unknown[], turn: TensorTurn): Promise<void> | undefined;

  /** Returns the codec of the arguments of calls whose answers stay: a key, and the arguments. */
  keptArgs(args: Codec<readonly unknown[]>): Codec<readonly unknown[]>;
  /** The codec of shape and type of an answer that stays. */
  readonly keptResult: Codec<unknown>;
  /** Notes that a handler starts whose answer stays. Returns a function to call at its end. */
  answering(key: unknown, turn: TensorTurn): () => void;
  /**
   * Keeps an answer, and returns its shape and type.
   *
   * @param label of the endpoint
   * @throws {TypeError} when the answer cannot stay
   */
  keep(label: string, key: unknown, answer: unknown): unknown;
  /** Makes a call, and returns tensors of the mesh. */
  rref(call: KeptCall): unknown;
}
