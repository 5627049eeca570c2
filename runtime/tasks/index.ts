/**
 * Tasks: functions that run on worker processes, with a scheduler, references to their results, and named actors.
 *
 * @module
 */
export {
  ActorNameTakenError,
  ObjectLostError,
  ResourceUnavailableError,
  TaskCancelledError,
  TaskError,
  type TaskErrorOptions,
  WorkerLostError,
} from "./errors.js";
