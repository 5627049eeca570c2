/** The errors of handlers that forward their message to an actor elsewhere. */
import { errorChainOf, errorFromChain } from "../../thrown.js";
import { ActorError, DeadlockError, DeliveryError, type DeliveryReason, SupervisionError } from "../errors.js";

/**
 * Thrown by handlers that forward their message to an actor elsewhere, when that actor has not handled the message. The
 * caller then gets the error that it gets from an actor that could not be reached, instead of an `ActorError`.
 */
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

/**
 * Returns what a handler throws so that its caller gets the error that the forwarded call has ended with, as if the caller had
 * called the other actor.
 *
 * @param label the endpoint: `counters.value`
 */
export function forwardedError(error: unknown, label: string): unknown {
  if (error instanceof ActorError) {
    const { remoteName: name, message, remoteStack: stack, cause } = error;
    return errorFromChain([{ name, message, stack }, ...(cause === undefined ? [] : errorChainOf(cause))]);
  }
  if (error instanceof SupervisionError) return failureOf("failed", error, label);
  if (error instanceof DeadlockError) return failureOf("deadlock", error, label);
  return error;
}

function failureOf(reason: DeliveryReason, error: Error, label: string): ForwardFailure {
  return new ForwardFailure(new DeliveryError(reason, reasonOf(error, label)));
}

/**
 * Returns the text of an error after "cannot call counters.value on rank 1: ", because the caller adds its own words.
 *
 * @param label the endpoint: `counters.value`
 */
export function reasonOf({ message }: Error, label: string): string {
  const start = message.indexOf(": ", `cannot call ${label}`.length);
  return start < 0 ? message : message.slice(start + 2);
}
