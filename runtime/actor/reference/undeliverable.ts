/** The report of a message that could not be delivered and that expected no answer. */
import type { DeliveryReason } from "../../link/errors.js";

/** A message that expected no answer and could not be delivered. */
export interface Undeliverable {
  /** The receiver: `Counter.increment`, or `port of int32`. */
  readonly to: string;
  /** Why the message could not be delivered. */
  readonly reason: DeliveryReason;
  /** The reason as text for people. */
  readonly message: string;
}
