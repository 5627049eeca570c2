/**
 * The extension seam of endpoints. An interceptor takes part in every message of an endpoint: when the message is sent,
 * when its arguments are decoded, before its handler starts, and when a result stays in the process of its actor.
 * Generated code passes the interceptor to the descriptor, so that programs load it only if their schemas need it.
 */
import type { Codec } from "./codec.js";
import type { MessageHandles } from "./message-handles.js";
import type { MessageLayout } from "./message-layout.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

/** Encodes and decodes the list of arguments of an endpoint. */
export interface ArgumentsLayout extends MessageLayout<readonly unknown[]> {
  /** The codec that describes the structure of the arguments, if this layout wraps another one. */
  readonly plain?: MessageLayout<readonly unknown[]>;
}

/** The receivers of a message. */
export interface MessageReceivers {
  /** The name of the mesh and the endpoint: `models.forward`. */
  readonly label: string;
  /** The ids of the procs of the receivers, in rank order. */
  readonly procs: readonly bigint[];
}

/** A message that is being sent. */
export interface OutgoingMessage {
  /**
   * Encodes the arguments with `layout`. Sending can encode a message more than once, in different layouts; only the
   * last encoding is sent.
   *
   * @throws {CodecError} when an argument is not of its type
   */
  encodeArguments(layout: ArgumentsLayout, w: Writer, args: readonly unknown[]): void;
  /** Called after the message has been passed to its sessions. Not called if sending fails. */
  afterSend(): void;
}

/** The outcome of a call for one rank whose result is retained: the description of the result, or the error. */
export type RetainedOutcome =
  | { readonly status: "fulfilled"; readonly value: unknown }
  | { readonly status: "rejected"; readonly reason: unknown };

/** A call whose results are retained in the processes of the actors. */
export interface RetainingCall extends MessageReceivers {
  /** The arguments of the endpoint. */
  readonly args: readonly unknown[];
  /**
   * Sends the call.
   *
   * @param key identifies the retained results
   * @returns one outcome for each rank, in rank order
   */
  send(key: unknown): PromiseLike<Iterable<RetainedOutcome>>;
}

/** The handling of one message by an actor. */
export interface HandlerTurn {
  /** The actor and the endpoint: `counters[0].value`. */
  readonly label: string;
  /** Identifies the actor in call chains. */
  readonly token: readonly [number, number];
  /** Returns whether a call made by the actor with this token, directly or through other actors, waits for this handler. */
  isAwaitedBy(token: readonly [number, number]): boolean;
}

/** Takes part in the messages of one endpoint. The endpoint's descriptor holds it as `interceptor`. */
export interface EndpointInterceptor {
  /** Whether the endpoint has `rref`, which retains results in the processes of the actors. */
  readonly retainsResults: boolean;

  /**
   * The codecs of handles by which an encoded message is written again in another layout. They pass its tensors on as they
   * are in the message, those that are lent included.
   */
  readonly forwardedHandles: MessageHandles;

  /** Called before a message is encoded. */
  beforeSend(receivers: MessageReceivers): OutgoingMessage;
  /**
   * Decodes the arguments of a message with `layout`.
   *
   * @throws {CodecError} when the bytes are not a list of arguments
   */
  decodeArguments(layout: ArgumentsLayout, r: Reader): readonly unknown[];
  /**
   * Called before the handler starts.
   *
   * @param args the result of `decodeArguments`
   * @returns a promise that resolves when the arguments are complete, or undefined if they already are; it rejects with
   *   the reason if they can never be complete
   */
  beforeHandler(args: readonly unknown[], turn: HandlerTurn): Promise<void> | undefined;

  /** Returns the codec of the arguments of retaining calls: the key of the results, followed by `args`. */
  retainingArguments(args: Codec<readonly unknown[]>): Codec<readonly unknown[]>;
  /** The codec of the description of a retained result. */
  readonly retainedResult: Codec<unknown>;
  /**
   * Called before a handler starts whose result is retained.
   *
   * @param key identifies the result
   * @returns a function to call when the handler has ended
   */
  beforeRetaining(key: unknown, turn: HandlerTurn): () => void;
  /**
   * Retains a result in this process.
   *
   * @param label name of the endpoint
   * @param key identifies the result
   * @returns the description of the result, which is sent to the caller
   * @throws {TypeError} when the result cannot be retained
   */
  retainResult(label: string, key: unknown, result: unknown): unknown;
  /** Sends a retaining call, and returns what the endpoint's `rref` returns. */
  callRetaining(call: RetainingCall): unknown;
}
