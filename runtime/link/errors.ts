/**
 * What goes wrong between a sender and a destination: messages that cannot be sent, and messages that cannot be
 * delivered. What handlers throw is no concern of this file.
 */
import { errorChainOf } from "../thrown.js";

/**
 * Why a message was not delivered. `peer-down`: the process of the receiver has ended. `closed`: the link was closed in
 * order. `failed`, `stopped`: the receiver has. `unknown`: there is no such actor or port, or not any more. `refused`:
 * the receiver has no such interface or endpoint, or a schema that cannot be read.
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

/** A message came back. The message says why, and can stand behind "cannot call …: ". */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  readonly reason: DeliveryReason;

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
export function meansEnded({ reason }: DeliveryError): boolean {
  return reason === "failed" || reason === "stopped" || reason === "unknown" || reason === "peer-down";
}

/** More has been sent to one receiver, without awaiting it, than its sender may queue. Nothing of it is dropped. */
export class BackpressureError extends Error {
  override readonly name: string = "BackpressureError";
}

/** One message is larger than a link takes. Nothing of it has been sent. */
export class MessageSizeError extends RangeError {
  override readonly name: string = "MessageSizeError";
}
