/** The error of a task, made of the error of the call that ran it. */
import { ActorError } from "../../index.js";
import { TaskError } from "../errors.js";

/** Returns an error with the class, message and stack of the error that the task threw. */
export function taskErrorOf(task: string, error: Error): Error {
  if (!(error instanceof ActorError)) return error;
  const { message, remoteName, remoteStack, cause } = error;
  return new TaskError(message, { task, remoteName, remoteStack, ...(cause === undefined ? {} : { cause }) });
}
