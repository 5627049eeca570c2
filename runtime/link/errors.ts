/** The errors of messages that cannot be sent or delivered. Errors that handlers throw are defined elsewhere. */
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
 * - `deadlock`: the receiver waits for the answer of the call itself.
 */
export type DeliveryReason = "peer-down" | "closed" | "failed" | "stopped" | "unknown" | "refused" | "deadlock";

export const deliveryReasons: readonly DeliveryReason[] = [
  "peer-down",
  "closed",
  "failed",
  "stopped",
  "unknown",
  "refused",
  "deadlock",
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
    // A proc remembers this error for as long as callers may ask why the receiver has ended. Until a stack trace is
    // read, V8 keeps the objects of its frames alive, here links that have ended and broadcast trees. So this error
    // captures no stack trace.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.reason = reason;
    if (options?.cause !== undefined) errorChainOf(options.cause);
  }
}

/**
 * Returns whether the error means that the receiver has ended, alone or with its process. Other errors mean that the
 * connection has ended or that the receiver does not accept the message.
 */
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
