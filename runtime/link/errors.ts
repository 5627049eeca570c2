/**
 * What goes wrong between a sender and a destination: messages that cannot be sent, and messages that cannot be
 * delivered. What handlers throw is no concern of this file.
 */
import { errorChainOf } from "../thrown.js";

/**
 * Why a message could not be delivered.
 *
 * - `peer-down`: the process of the receiver has ended.
 * - `closed`: the connection was closed in order.
 * - `failed`: the receiver has failed.
 * - `stopped`: the receiver was stopped.
 * - `unknown`: the receiver does not exist, or no longer exists.
 * - `refused`: the receiver does not have the interface or endpoint, or cannot read the schema.
 */
export type DeliveryReason = "peer-down" | "closed" | "failed" | "stopped" | "unknown" | "refused";

export const deliveryReasons: readonly DeliveryReason[] = [
  "peer-down",
  "closed",
  "failed",
  "stopped",
  "unknown",
  "refused",
];

/** A message that could not be delivered. Its message can follow "cannot call …: ". */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  /** Why the message could not be delivered. */
  readonly reason: DeliveryReason;

  /**
   * Makes an error.
   *
   * @param reason why the message could not be delivered
   * @param message the reason as text for people
   * @param options the cause
   */
  constructor(reason: DeliveryReason, message: string, options?: ErrorOptions) {
    // It is kept for as long as anybody may ask what became of the receiver. V8 keeps what the frames of a stack ran on for
    // as long as nobody has read the stack: links that have ended, trees of casts, with all of their memory.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.reason = reason;
    if (options?.cause !== undefined) errorChainOf(options.cause);
  }
}

/** Whether the receiver itself is no more, alone or with its process, as opposed to the way to it, or what it takes. */
export function meansTargetEnded({ reason }: DeliveryError): boolean {
  return reason === "failed" || reason === "stopped" || reason === "unknown" || reason === "peer-down";
}

/**
 * Thrown when a sender that does not await has filled the send window of a receiver: 65,536 messages or 64 MiB by
 * default. The message has not been sent; messages that were sent before are not dropped.
 */
export class BackpressureError extends Error {
  override readonly name: string = "BackpressureError";
}

/** Thrown when a message is larger than a connection accepts. Nothing of the message has been sent. */
export class MessageSizeError extends RangeError {
  override readonly name: string = "MessageSizeError";
}
