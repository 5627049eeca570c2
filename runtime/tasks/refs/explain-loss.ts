/** The errors of values of other processes. */
import { SupervisionError } from "../../index.js";
import { ObjectLostError } from "../errors.js";
import { taskErrorOf } from "../submit/task-error-of.js";

/** Returns the error of a call to the owner of a result as that of the result. */
export function explainLoss(label: string, error: Error): Error {
  if (error instanceof ObjectLostError) return error;
  if (error instanceof SupervisionError) {
    return new ObjectLostError(`the result of ${label} is lost: the process that had it has ended: ${error.message}`, {
      cause: error,
    });
  }
  const made = taskErrorOf(label, error);
  // The owner knows that nobody keeps the result.
  return (made as { remoteName?: string }).remoteName === "ObjectLostError" ? new ObjectLostError(made.message) : made;
}
