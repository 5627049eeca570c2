/** Turns errors of calls of actors into those of tasks, with which references reject. */
import { errorMessage, toError } from "../../../shared/text/error-message.js";
import { ActorError, DeliveryError, SupervisionError } from "../../index.js";
import { TaskCancelledError, TaskError, WorkerLostError } from "../errors.js";

/**
 * Returns the error of the reference to an answer.
 *
 * @param label the name of the actor and the endpoint: `counters.increment`
 */
export function errorOfCall(label: string, error: unknown): Error {
  if (error instanceof ActorError) {
    const { message, remoteName, remoteStack, cause } = error;
    return new TaskError(message, { task: label, remoteName, remoteStack, cause });
  }
  if (error instanceof SupervisionError || error instanceof DeliveryError) {
    return new WorkerLostError(label, error.message, { cause: error });
  }
  if (error instanceof Error && error.name === "AbortError") {
    return new TaskCancelledError(label, `${label} was cancelled`);
  }
  return toError(error);
}

/**
 * Returns the error of a call that was not made, because one of its arguments is the result of a task that failed.
 *
 * @param index the number of the argument, from 0
 * @param source the name of that task
 */
export function errorOfArgument(label: string, index: number, source: string, cause: unknown): TaskError {
  const remoteName = cause instanceof TaskError ? cause.remoteName : toError(cause).name;
  return new TaskError(
    `cannot call ${label}: argument ${index} is the result of ${source}, which has failed: ${errorMessage(cause)}`,
    { task: label, remoteName, cause },
  );
}
