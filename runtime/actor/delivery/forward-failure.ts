/**
 * Thrown by handlers that forward their message to an actor elsewhere, when that actor has not handled the message. The
 * caller then gets the error that it gets from an actor that could not be reached, instead of an `ActorError`.
 */
import type { DeliveryError } from "../../link/errors.js";

export class ForwardFailure extends Error {
  override readonly name = "ForwardFailure";
  /** Why the message was not handled. */
  readonly delivery: DeliveryError;

  constructor(delivery: DeliveryError) {
    super(delivery.message);
    this.delivery = delivery;
  }
}
