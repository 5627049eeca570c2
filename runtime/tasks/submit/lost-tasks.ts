/**
 * The tasks that were sent to a worker process and had not ended when it ended. The host says a little later, or has said, why the
 * process has ended, and which of the tasks had begun. Those that had not begun run elsewhere, whatever they do.
 */
import { WorkerLostError } from "../errors.js";
import type { Clock } from "../kernel.js";
import type { PendingTask } from "./pending-task.js";

/** The time in ms for which the host is awaited. Later, all tasks are taken as begun. */
const REPORT_MS = 500;
/** The number of processes that may end before one of their tasks begins, with a task that is sent again each time. */
const ENDS_BEFORE = 5;

/** The end of a worker process. */
export interface LeaseEnd {
  readonly reason: string;
  /** The number of the last order whose task had begun; 0: none had. Undefined: it is not known. */
  readonly begun: number | undefined;
}

/** A lease, as far as its end is concerned. */
interface EndingLease {
  readonly ended: LeaseEnd | undefined;
}

export class LostTasks {
  readonly #lease: EndingLease;
  readonly #clock: Clock;
  readonly #settle: (tasks: readonly PendingTask[]) => void;
  #tasks: PendingTask[] = [];
  #isSettling = false;
  #timer: { cancel(): void } | undefined;

  /** @param settle called with the tasks, in the order in which they were sent, when the host has said what it knows */
  constructor(lease: EndingLease, clock: Clock, settle: (tasks: readonly PendingTask[]) => void) {
    this.#lease = lease;
    this.#clock = clock;
    this.#settle = settle;
  }

  add(task: PendingTask): void {
    this.#tasks.push(task);
    if (this.#lease.ended !== undefined) this.reported();
    else this.#timer ??= this.#clock.after(REPORT_MS, () => this.reported(), true);
  }

  /** The host has said why the process has ended, or is not awaited any longer. */
  reported(): void {
    this.#timer?.cancel();
    if (this.#isSettling || this.#tasks.length === 0) return;
    this.#isSettling = true;
    // The calls of all tasks fail in this turn of the event loop.
    this.#clock.nextTurn(() => {
      this.#isSettling = false;
      this.#timer = undefined;
      this.#settle(this.#tasks.splice(0));
    });
  }
}

/** Decides what happens to a task whose process has ended: it runs again, or fails with the error that is returned. */
export function fateOf(task: PendingTask, end: LeaseEnd | undefined, cause: Error): "again" | WorkerLostError {
  const { label } = task;
  const reason = end?.reason ?? cause.message;
  if (end?.begun !== undefined && task.order > end.begun) {
    if (end.begun > 0 || ++task.endsBefore < ENDS_BEFORE) return "again";
    return new WorkerLostError(
      label,
      `cannot run ${label}: ${ENDS_BEFORE} processes have ended before a task began, the last one because of this: ${reason}`,
      { cause },
    );
  }
  if (task.retries > 0) {
    task.retries--;
    return "again";
  }
  return new WorkerLostError(
    label,
    `the process that ran ${label} has ended: ${reason}; a task that may run again is defined with { idempotent: true }`,
    { cause },
  );
}
