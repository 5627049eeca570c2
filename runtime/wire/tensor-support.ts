/**
 * What endpoints that take or answer tensors need of `viceroy/tensor`. Generated code hands it to them, so that programs without
 * tensors load nothing of it.
 */
import type { Codec } from "./codec.js";
import type { MessageLayout } from "./protobuf-messages.js";

export interface ArgumentsLayout extends MessageLayout<readonly unknown[]> {
  /** Of a layout that does more than encode: the one that says what values consist of. */
  readonly plain?: MessageLayout<readonly unknown[]>;
}

/** Who is sent a message. */
export interface Addressed {
  /** `models.forward` */
  readonly label: string;
  /** The processes of its receivers, in rank order. */
  readonly procs: readonly bigint[];
}

/** What became of one actor's answer that stays where it is: what is told of it, or why there is none. */
export type Kept =
  | { readonly status: "fulfilled"; readonly value: unknown }
  | { readonly status: "rejected"; readonly reason: unknown };

/** A call whose answers stay with the actors. */
export interface KeptCall extends Addressed {
  readonly args: readonly unknown[];
  /** Sends it. @param key by which answers are found; what `keptArgs` encodes @throws what sending throws: then nothing was sent */
  send(key: unknown): PromiseLike<Iterable<Kept>>;
}

/** A handler, as its actor sees it. */
export interface TensorTurn {
  /** What is called, of whom: `counters[0].value`. */
  readonly label: string;
  /** The actor, as call chains name it. */
  readonly token: readonly [number, number];
  /** Whether a call waits behind this turn that the handler of this actor has made, itself or by others. */
  isAwaitedBy(token: readonly [number, number]): boolean;
}

export interface TensorSupport {
  /** Whether there is `rref`: the endpoint has a `@propagate`. */
  readonly propagates: boolean;

  /** Sends a message, of whose arguments tensors of a mesh become tensors of its receivers. @throws what `send` throws: then nothing is lent */
  lend<T>(to: Addressed, send: () => T): T;
  /** The same layout: what is encoded last, within `send`, is what is lent. */
  sending(layout: ArgumentsLayout): ArgumentsLayout;
  /** The same layout, which remembers what in a message is still on its way. */
  receiving(layout: ArgumentsLayout): ArgumentsLayout;
  /** Resolves when all that is in the arguments of a message is there; undefined: it is. Rejects with why it never will be. */
  arriving(args: readonly unknown[], turn: TensorTurn): Promise<void> | undefined;

  /** Of messages whose answers stay: a key, and the arguments. */
  keptArgs(args: Codec<readonly unknown[]>): Codec<readonly unknown[]>;
  /** What is told of an answer that stays. */
  readonly keptResult: Codec<unknown>;
  /** A handler begins whose answer stays. @returns what is called at its end */
  answering(key: unknown, turn: TensorTurn): () => void;
  /** Keeps an answer. @returns what is told of it @throws TypeError if it is none that can stay */
  keep(label: string, key: unknown, answer: unknown): unknown;
  /** Calls, and answers with tensors of a mesh. */
  rref(call: KeptCall): unknown;
}
