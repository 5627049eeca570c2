/** A task that has no result yet. */
import type { TaskOrigin, TaskOutcome } from "../../../generated/tasks.js";
import type { Result } from "../refs/result.js";
import type { Task } from "../task-object.js";
import type { OutcomeTaker, ResultPlace } from "./ports.js";

/**
 * The run times of a task, as far as they are known. Tasks that take long are sent to a worker one by one, short ones many at a time.
 */
export class RunTimes {
  /** The expected run time in microseconds; Infinity before the first outcome. */
  expected = Number.POSITIVE_INFINITY;

  add(micros: number): void {
    // One time that is much longer, because memory was collected meanwhile, says little.
    if (this.expected === Number.POSITIVE_INFINITY) this.expected = micros;
    else this.expected += (Math.min(micros, this.expected * 4 + 100) - this.expected) / 8;
  }
}

/** A queue in which a task waits. */
export interface WaitingPlace {
  /** Takes a task out. Returns false if it does not wait here. */
  remove(task: PendingTask): boolean;
}

/** The lease under which a task was sent. */
export interface RunningPlace extends ResultPlace {
  /** Called with the outcome of a task that was sent. */
  taskEnded(task: PendingTask, outcome: TaskOutcome): void;
  /** Called with the error of a task that was sent, or when the process has ended. */
  taskFailed(task: PendingTask, error: Error): void;
}

const nothing = new Uint8Array(0);

/** A task on its way from `run` to its result. It takes its own outcome, because a closure for each task would be garbage. */
export class PendingTask implements OutcomeTaker {
  readonly id: number;
  readonly task: Task;
  /** The name in reports. */
  readonly label: string;
  readonly result: Result;
  readonly times: RunTimes;
  /** The number of times that the task may still be run after its process has ended. */
  retries: number;
  readonly chain: TaskOrigin[] | undefined;
  /** The encoded arguments; empty while some of them are missing. */
  args: Uint8Array = nothing;
  /** The positions of the arguments that the worker fetches. `args` has references in their places. */
  fetched: number[] | undefined = undefined;
  /** The references in the arguments: their results are kept as long as the task may run. */
  held: readonly object[] | undefined = undefined;
  /** The place of the task: a queue, a lease under which it was sent, or neither while it waits for arguments. */
  queue: WaitingPlace | undefined = undefined;
  lease: RunningPlace | undefined = undefined;
  /** The run time that was expected of the task when it was sent, in microseconds; 0 unless it is sent. */
  sentMicros = 0;
  /** The number of its last order, in the lease under which it was sent. */
  order = 0;
  /** The number of processes that have ended before any of their tasks had begun, this one included. */
  endsBefore = 0;
  /** The reason for which the task was cancelled. */
  cancelled: string | undefined = undefined;
  /** The position among the pending tasks of the submitter; -1 unless the task is one of them. */
  position = -1;

  constructor(task: Task, result: Result, times: RunTimes, retries: number, chain: TaskOrigin[] | undefined) {
    this.id = result.id;
    this.task = task;
    this.label = result.label;
    this.result = result;
    this.times = times;
    this.retries = retries;
    this.chain = chain;
  }
  answered(outcome: TaskOutcome): void {
    this.lease!.taskEnded(this, outcome);
  }

  failed(error: Error): void {
    this.lease!.taskFailed(this, error);
  }
}
