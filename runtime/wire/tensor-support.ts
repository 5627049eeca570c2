/**
 * What endpoints that take or answer tensors need of `viceroy/tensor`. Generated code hands it to them, so that programs without
 * tensors load nothing of it.
 */
import type { Codec } from "./codec.js";
import type { MessageLayout } from "./protobuf-messages.js";

export type ArgumentsLayout = MessageLayout<readonly unknown[]>;

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
  arriving(args: readonly unknown[]): Promise<void> | undefined;

  /** Of messages whose answers stay: a key, and the arguments. */
  keptArgs(args: Codec<readonly unknown[]>): Codec<readonly unknown[]>;
  /** What is told of an answer that stays. */
  readonly keptResult: Codec<unknown>;
  /** Keeps an answer. @returns what is told of it @throws TypeError if it is none that can stay */
  keep(label: string, key: unknown, answer: unknown): unknown;
  /** Calls, and answers with tensors of a mesh. */
  rref(call: KeptCall): unknown;
}
