/**
 * The errors of requests for actors. They pass from the host to the root, and from there to whoever has asked, by calls of
 * actors; each step makes the error again that was thrown.
 */
import { toError } from "../../../shared/text/error-message.js";
import { ActorError, DeliveryError, SupervisionError } from "../../index.js";
import {
  ActorNameTakenError,
  DetachedActorError,
  ResourceUnavailableError,
  TaskCancelledError,
  TaskError,
  WorkerLostError,
} from "../errors.js";

/** The actor could not be created. The cause is the error of its constructor, or the end of its process. */
export class ActorCreationError extends Error {
  override readonly name: string = "ActorCreationError";
}

const classes: Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>> = {
  ActorCreationError,
  ActorNameTakenError,
  DetachedActorError,
  ResourceUnavailableError,
  RangeError,
  TypeError,
};

/** Returns the error that the handler of a call threw, of the same class. */
export function thrownByHandler(error: unknown): Error {
  if (!(error instanceof ActorError)) return toError(error);
  const { remoteName, message, cause } = error;
  const made = new (classes[remoteName] ?? Error)(message, cause === undefined ? {} : { cause });
  if (made.name === "Error") made.name = remoteName;
  return made;
}

/**
 * Returns the error of a request, as the program sees it.
 *
 * @param label the name of the actor
 */
export function errorOfRequest(label: string, error: unknown): Error {
  const thrown = thrownByHandler(error);
  if (thrown instanceof ActorCreationError) {
    const cause = toError(thrown.cause);
    if (cause.name === "ProcessEnd") return new WorkerLostError(label, thrown.message, { cause });
    const options = { task: `${label}.constructor`, remoteName: cause.name, remoteStack: cause.stack };
    return new TaskError(cause.message, cause.cause === undefined ? options : { ...options, cause: cause.cause });
  }
  if (error instanceof SupervisionError || error instanceof DeliveryError) {
    return new WorkerLostError(label, `cannot reach the context of actor ${label}: ${error.message}`, { cause: error });
  }
  // The root could not reach the host.
  if (thrown.name === "SupervisionError" || thrown.name === "DeliveryError") {
    return new WorkerLostError(label, `cannot create actor ${label}: ${thrown.message}`, { cause: thrown });
  }
  if (thrown.name === "AbortError")
    return new TaskCancelledError(label, `the request for actor ${label} was cancelled`);
  return thrown;
}
