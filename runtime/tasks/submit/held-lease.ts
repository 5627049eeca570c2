/** A lease that this process holds, with the tasks that it has sent to the worker. */
import type { TaskOrder, TaskOutcome } from "../../../generated/tasks.js";
import { functionOf } from "../function-registry.js";
import type { Task } from "../task-object.js";
import type { LeaseEnd, LostTasks } from "./lost-tasks.js";
import type { PendingTask, RunningPlace } from "./pending-task.js";
import type { GrantedLease, HostPort, WorkerPort } from "./ports.js";
import type { TaskClass } from "./task-class.js";

/** The run time of the tasks that are sent to one worker ahead, in microseconds, and their largest number. */
const AHEAD_MICROS = 2000;
const AHEAD_TASKS = 256;
/** The largest number of an order. A lease that has sent so many tasks is given back. */
const MAX_ORDERS = 2 ** 32 - 1;

/** Sends tasks under leases, and takes their outcomes. */
export interface LeaseHolder {
  /** Returns the time in milliseconds. */
  now(): number;
  ended(task: PendingTask, lease: HeldLease, outcome: TaskOutcome): void;
  failed(task: PendingTask, lease: HeldLease, error: Error): void;
}

export class HeldLease implements RunningPlace {
  readonly id: number;
  readonly host: HostPort;
  readonly worker: WorkerPort;
  /** The number of tasks that were sent and have not ended. */
  sent = 0;
  readonly #functions = new Map<Task, number>();
  /** Whether the memory of the process is limited. */
  readonly #isLimited: boolean;
  /** The number of tasks that may still be sent, before the process ends or the numbers of orders do. */
  #left: number;
  #expectedMicros = 0;
  #lastOrder = 0;
  readonly #holder: LeaseHolder;
  /** Whether others wait for the resources. No more tasks are sent then. */
  isWanted = false;
  /** The report of the host about the end of the process. Undefined: the host has sent none. */
  ended: LeaseEnd | undefined;
  /** The tasks that were lost with the process, until it is known which of them had begun. */
  lost: LostTasks | undefined;
  /** The time at which the last task ended, or the lease was granted, by the clock of the submitter. */
  idleSince: number;
  /** The time at which the oldest task that has not ended was sent. */
  busySince = 0;
  /** Whether the oldest task that has not ended has turned out to take long. No more tasks are sent behind it. */
  isSlow = false;

  constructor(
    host: HostPort,
    { id, worker }: GrantedLease,
    { maxCalls, resources }: Pick<TaskClass, "maxCalls" | "resources">,
    holder: LeaseHolder,
  ) {
    this.host = host;
    this.id = id;
    this.worker = worker;
    this.#left = Math.min(maxCalls, MAX_ORDERS);
    this.#isLimited = resources["memory"] !== undefined;
    this.#holder = holder;
    this.idleSince = holder.now();
  }

  get isIdle(): boolean {
    return this.sent === 0;
  }

  /** Whether the lease is of no more use when its tasks have ended. */
  get isLeaving(): boolean {
    return this.isWanted || this.#left === 0 || this.ended !== undefined;
  }

  /** Returns whether a task can be sent now. */
  hasRoomFor({ times }: PendingTask): boolean {
    if (this.isLeaving) return false;
    if (this.sent === 0) return true;
    if (this.isSlow) return false;
    return this.sent < AHEAD_TASKS && this.#expectedMicros + times.expected <= AHEAD_MICROS;
  }

  /** Returns the order that sends a task, with its function if the worker does not know the number of the function. */
  orderOf(pending: PendingTask): TaskOrder {
    const { id, task, args, chain, fetched } = pending;
    pending.order = ++this.#lastOrder;
    const known = this.#functions.get(task);
    const fn = known ?? this.#functions.size;
    const order: TaskOrder = { id, lease: this.id, fn, args, number: pending.order };
    if (known === undefined) {
      this.#functions.set(task, fn);
      order.defines = functionOf(task);
    }
    if (chain !== undefined) order.chain = chain;
    if (fetched !== undefined) order.fetched = fetched;
    if (this.#isLimited) order.limited = true;
    return order;
  }

  /** Forgets a number that could not be sent. */
  forget(task: Task): void {
    this.#functions.delete(task);
  }

  add(task: PendingTask): void {
    if (this.sent === 0) this.busySince = this.#holder.now();
    this.sent++;
    this.#left--;
    // Nothing is sent behind a task of which nothing is known, because it may take long.
    const micros = Math.min(task.times.expected, AHEAD_MICROS + 1);
    task.sentMicros = micros;
    this.#expectedMicros += micros;
    task.lease = this;
  }

  /** @param hasBegun whether the task may have run; others have waited behind one that still does */
  remove(task: PendingTask, hasBegun = true): void {
    this.sent--;
    task.lease = undefined;
    this.#expectedMicros -= task.sentMicros;
    task.sentMicros = 0;
    if (hasBegun) this.isSlow = false;
    if (this.sent === 0) {
      // Sums of floating-point numbers leave a rest.
      this.#expectedMicros = 0;
      this.isSlow = false;
      this.idleSince = this.#holder.now();
    } else if (hasBegun) {
      this.busySince = this.#holder.now();
    }
  }

  taskEnded(task: PendingTask, outcome: TaskOutcome): void {
    this.#holder.ended(task, this, outcome);
  }

  taskFailed(task: PendingTask, error: Error): void {
    this.#holder.failed(task, this, error);
  }
}
