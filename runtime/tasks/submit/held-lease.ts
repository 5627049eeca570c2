/** A lease that this process holds, with the tasks that it has sent to the worker. */
import type { TaskFunction } from "../../../generated/tasks.js";
import { functionOf } from "../function-registry.js";
import type { Task } from "../task-object.js";
import type { PendingTask } from "./pending-task.js";
import type { GrantedLease, HostPort, WorkerPort } from "./ports.js";

/** The run time of the tasks that are sent to one worker ahead, in microseconds, and their largest number. */
const AHEAD_MICROS = 2000;
const AHEAD_TASKS = 256;

export class HeldLease {
  readonly id: number;
  readonly host: HostPort;
  readonly worker: WorkerPort;
  /** The tasks that were sent and have not ended, in the order in which they were sent. */
  readonly sent = new Set<PendingTask>();
  /** The run times that were expected of these tasks when they were sent, in microseconds. */
  readonly #expected = new Map<PendingTask, number>();
  readonly #functions = new Map<Task, number>();
  /** The number of tasks that may still be sent; Infinity unless the process ends after some. */
  #left: number;
  #expectedMicros = 0;
  /** Whether others wait for the resources. No more tasks are sent then. */
  isWanted = false;
  /** What happened to the process, once the host has said it. */
  endedBecause: string | undefined;
  /** Called when the host says that the process has ended. */
  onEnded: (() => void) | undefined;
  /** The time at which the last task ended, or the lease was granted, by the clock of the submitter. */
  idleSince: number;
  /** The time at which the oldest task that has not ended was sent. */
  busySince = 0;

  constructor(host: HostPort, { id, worker }: GrantedLease, maxTasks: number, now: number) {
    this.host = host;
    this.id = id;
    this.worker = worker;
    this.#left = maxTasks;
    this.idleSince = now;
  }

  get isIdle(): boolean {
    return this.sent.size === 0;
  }

  /** Whether the lease is of no more use when its tasks have ended. */
  get isLeaving(): boolean {
    return this.isWanted || this.#left === 0 || this.endedBecause !== undefined;
  }

  /** Returns whether a task can be sent now. */
  hasRoomFor({ times }: PendingTask): boolean {
    if (this.isLeaving) return false;
    if (this.sent.size === 0) return true;
    return this.sent.size < AHEAD_TASKS && this.#expectedMicros + times.expected <= AHEAD_MICROS;
  }

  /** Returns the number of a function in this lease, and the function if the worker does not know the number. */
  numberOf(task: Task): { readonly fn: number; readonly defines?: TaskFunction } {
    const known = this.#functions.get(task);
    if (known !== undefined) return { fn: known };
    const fn = this.#functions.size;
    this.#functions.set(task, fn);
    return { fn, defines: functionOf(task) };
  }

  /** Forgets a number that could not be sent. */
  forget(task: Task): void {
    this.#functions.delete(task);
  }

  add(task: PendingTask, now: number): void {
    if (this.sent.size === 0) this.busySince = now;
    this.sent.add(task);
    this.#left--;
    // Nothing is sent behind a task of which nothing is known, because it may take long.
    const micros = Math.min(task.times.expected, AHEAD_MICROS + 1);
    this.#expected.set(task, micros);
    this.#expectedMicros += micros;
    task.lease = this;
  }

  remove(task: PendingTask, now: number): void {
    this.sent.delete(task);
    task.lease = undefined;
    this.#expectedMicros -= this.#expected.get(task) ?? 0;
    this.#expected.delete(task);
    if (this.sent.size === 0) {
      // Sums of floating-point numbers leave a rest.
      this.#expectedMicros = 0;
      this.idleSince = now;
    } else {
      this.busySince = now;
    }
  }

  /** Whether a task was sent before this one, has not ended, and has not been cancelled: it may be the one that runs. */
  runsBefore(task: PendingTask): boolean {
    for (const other of this.sent) {
      if (other === task) return false;
      if (other.cancelled === undefined) return true;
    }
    return false;
  }
}
