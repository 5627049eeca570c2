/**
 * Thrown by handlers that forward their message to an actor elsewhere, when that actor has not handled the message. The
 * caller then gets the error that it gets from an actor that could not be reached, instead of an `ActorError`.
 */
import type { DeliveryError } from "../../link/errors.js";

export class ForwardFailure extends Error {
  override readonly name = "ForwardFailure";
  readonly #delivery: DeliveryError;

  /** @param delivery why the message was not handled */
  constructor(delivery: DeliveryError) {
    super(delivery.message);
    this.#delivery = delivery;
  }

  /**
   * Returns why the message was not handled, or undefined if a handler has thrown something else. That can be a proxy
   * whose traps throw. Looking for a private property calls none of them, as `instanceof` would.
   */
  static deliveryOf(thrown: unknown): DeliveryError | undefined {
    return typeof thrown === "object" && thrown !== null && #delivery in thrown ? thrown.#delivery : undefined;
  }
}
