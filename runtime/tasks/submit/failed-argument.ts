/** The error of a task that was not run, because the task of an argument has failed. */
import { TaskError } from "../errors.js";

/**
 * @param index the position of the argument, from 0
 * @param label the name of the task whose result is the argument
 */
export function failedArgument(task: string, index: number, label: string, cause: Error): TaskError {
  const text = `task ${task} was not run: argument ${index + 1}, the result of ${label}, has failed: ${cause.message}`;
  return new TaskError(text, { task, remoteName: cause.name, cause });
}
