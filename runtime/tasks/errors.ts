/** The errors of tasks. */

/** The options of the constructor of {@link TaskError}. */
export interface TaskErrorOptions extends ErrorOptions {
  /** The name of the task: `square`. */
  readonly task: string;
  /** The class of the error that the task threw: `RangeError`. */
  readonly remoteName: string;
  /** The stack of the error in the process of the task. */
  readonly remoteStack?: string | undefined;
}

/**
 * Rejects `get` of the result of a task that threw. A task whose argument is the result of a failed task is not run, and fails
 * with a TaskError whose `cause` is the error of the other task.
 */
export class TaskError extends Error {
  override readonly name: string = "TaskError";
  /** The name of the task: `square`. */
  readonly task: string;
  /** The class of the error that the task threw: `RangeError`. */
  readonly remoteName: string;
  /** The stack of the error in the process of the task. `stack` contains it. */
  readonly remoteStack: string | undefined;

  /**
   * Makes an error from what the process of the task reported.
   *
   * @param message the message of the error that the task threw
   * @param options the fields of the error
   */
  constructor(message: string, options: TaskErrorOptions) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.task = options.task;
    this.remoteName = options.remoteName;
    this.remoteStack = options.remoteStack;
    this.stack = `${this.name}: ${message}\n    in task ${options.task}\n${options.remoteStack ?? options.remoteName}`;
  }
}

/** Rejects `get` of a task whose worker process ended while the task ran, and which may not run again. */
export class WorkerLostError extends Error {
  override readonly name: string = "WorkerLostError";
  /** The name of the task: `square`. */
  readonly task: string;

  /**
   * Called by the runtime.
   *
   * @param task the name of the task
   * @param message what happened to the process
   * @param options the error that was seen first, as the cause
   */
  constructor(task: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.task = task;
  }
}

/** Rejects `get` of a task that was cancelled. */
export class TaskCancelledError extends Error {
  override readonly name: string = "TaskCancelledError";
  /** The name of the task: `square`. */
  readonly task: string;

  /**
   * Called by the runtime.
   *
   * @param task the name of the task
   * @param message why the task has no result
   */
  constructor(task: string, message: string) {
    super(message);
    this.task = task;
  }
}

/** Rejects `get` of a result that does not exist any more: it was released, or the process that had it has ended. */
export class ObjectLostError extends Error {
  override readonly name: string = "ObjectLostError";
}

/**
 * Thrown by `put`, and by the end of a task with a large result, when there is room for the value neither in memory nor on the disk of the
 * host. Its message says how much is in use.
 */
export class ObjectStoreFullError extends Error {
  override readonly name: string = "ObjectStoreFullError";
}

/** Rejects a task or an actor that needs more than any host of the context has. */
export class ResourceUnavailableError extends Error {
  override readonly name: string = "ResourceUnavailableError";
}

/** Rejects `actor` with `lifetime: "detached"` when nothing on the hosts of the context outlives the program. */
export class DetachedActorError extends Error {
  override readonly name: string = "DetachedActorError";
}

/** Rejects `actor` when another actor has the name. */
export class ActorNameTakenError extends Error {
  override readonly name: string = "ActorNameTakenError";
}
