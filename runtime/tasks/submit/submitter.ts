/**
 * Sends the tasks of one process to workers. It asks hosts for leases of worker processes, sends tasks to leased workers
 * directly, and gives leases back: hosts see leases, not tasks.
 */
import type { LeaseNotice, TaskOutcome } from "../../../generated/tasks.js";
import { TaskCancelledError } from "../errors.js";
import { MIN_STORED_BYTES } from "../objects/stored-value.js";
import type { ReceivedValue } from "../refs/elsewhere.js";
import type { Result } from "../refs/result.js";
import type { HeldLease } from "./held-lease.js";
import { HostChoices } from "./host-choices.js";
import { fateOf, LostTasks } from "./lost-tasks.js";
import type { PendingTask, RunningPlace } from "./pending-task.js";
import type { HostPort, SubmitterOptions } from "./ports.js";
import { keyOfClass, type TaskClass } from "./task-class.js";
import { taskErrorOf } from "./task-error-of.js";
import { TaskQueue } from "./task-queue.js";

/** The time in ms between two sweeps. */
const SWEEP_MS = 20;
/** The time in ms for which a notice that has arrived before its lease is kept. Later, it was about a lease that was given back. */
const EARLY_MS = 5000;

export class Submitter {
  readonly #options: SubmitterOptions;
  readonly #queues = new Map<string, TaskQueue>();
  readonly #choices: HostChoices;
  /** The leases of each host by their numbers, for notices. */
  readonly #leases = new Map<HostPort, Map<number, { readonly lease: HeldLease; readonly queue: TaskQueue }>>();
  /** Notices that have arrived before the lease. */
  readonly #early = new Map<HostPort, Map<number, LeaseNotice>>();
  #isSweeping = false;
  #closed: string | undefined;
  /** The tasks that have been submitted and have no result, in any order. Each knows its position. */
  readonly #pending: PendingTask[] = [];
  /** The class of the last task, with its queue. */
  #last: { readonly taskClass: TaskClass; readonly queue: TaskQueue } | undefined;

  constructor(options: SubmitterOptions) {
    this.#options = options;
    this.#choices = new HostChoices(options);
  }

  /** Puts a task whose arguments are encoded into the queue of its class. */
  submit(task: PendingTask, taskClass: TaskClass): void {
    if (this.#closed !== undefined) {
      task.result.reject(new TaskCancelledError(task.label, this.#closed));
      return;
    }
    let queue: TaskQueue;
    try {
      queue = this.#queueOf(taskClass, task.label);
    } catch (error) {
      task.result.reject(error as Error);
      return;
    }
    task.position = this.#pending.push(task) - 1;
    this.#options.callInTurn(addTo, queue, task);
    this.#sweepLater();
  }

  /**
   * Ends a task: one that waits is dropped, one that runs gets the signal, and is ended with its process if it does not end in
   * time.
   */
  cancel(task: PendingTask, reason: string): void {
    if (task.cancelled !== undefined || task.result.isSettled) return;
    task.cancelled = reason;
    const { queue, lease } = task;
    if (queue?.remove(task) === true) {
      task.queue = undefined;
      this.#settleCancelled(task);
    } else if (lease !== undefined) {
      this.#options.inTurn(() => lease.worker.cancel(lease.id, task.id));
      this.#killAfterGrace(task, lease);
    } else {
      this.#settleCancelled(task);
    }
  }

  #killAfterGrace(task: PendingTask, lease: RunningPlace): void {
    const { clock, grace, inTurn } = this.#options;
    clock.after(grace, () => {
      if (task.lease !== lease || this.#closed !== undefined) return;
      // Another one, which shall live, may block the event loop of the process, so that this one has not begun.
      const isBehind = this.#pending.some((other) => other.lease === lease && runsBefore(other, task));
      if (isBehind) {
        this.#settleCancelled(task);
        this.#killAfterGrace(task, lease);
      }
      const reason = `task ${task.label} was cancelled and did not end in ${grace} ms`;
      inTurn(() => lease.host.kill(lease.id, reason, isBehind ? task.order : 0));
    });
  }

  /** Cancels the task of a result. Returns false if it is not pending. */
  cancelResult(result: Result, reason: string): boolean {
    const task = this.#pending.find((pending) => pending.result === result);
    if (task === undefined) return false;
    this.cancel(task, reason);
    return true;
  }

  /** Cancels all tasks, and gives back what no task uses. The process has nothing to do with the context any more. */
  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    for (const task of this.#pending.toSorted((first, second) => first.id - second.id)) {
      task.queue?.remove(task);
      task.cancelled = reason;
      this.#settleCancelled(task);
    }
    this.#options.inTurn(() => {
      for (const queue of this.#queues.values()) queue.close();
    });
    this.#queues.clear();
    this.#last = undefined;
  }

  /** The task has a result, or gets one now. */
  #forget(task: PendingTask): void {
    const { position } = task;
    if (position < 0) return;
    task.position = -1;
    const last = this.#pending.pop()!;
    if (last === task) return;
    this.#pending[position] = last;
    last.position = position;
  }

  #reject(task: PendingTask, error: Error): void {
    this.#forget(task);
    task.result.reject(error);
  }

  #settleCancelled(task: PendingTask): void {
    this.#forget(task);
    task.result.reject(new TaskCancelledError(task.label, `task ${task.label} was cancelled: ${task.cancelled}`));
  }

  #queueOf(taskClass: TaskClass, label: string): TaskQueue {
    if (this.#last?.taskClass === taskClass) return this.#last.queue;
    const key = keyOfClass(taskClass);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      const { holder, clock, inTurn } = this.#options;
      const made: TaskQueue = new TaskQueue(taskClass, this.#choices.take(taskClass, label), {
        ...{ holder, clock, inTurn },
        asking: (host) => this.#listen(host),
        send: (task, lease) => this.#send(task, lease, made),
        granted: (lease) => this.#granted(lease, made),
        leave: (lease) => this.#leave(lease),
        now: () => clock.now(),
        ended: (task, lease, outcome) => this.#ended(task, lease, made, outcome),
        failed: (task, lease, error) => this.#failed(task, lease, made, error),
        reject: (task, error) => this.#reject(task, error),
      });
      queue = made;
      this.#queues.set(key, queue);
    }
    this.#last = { taskClass, queue };
    return queue;
  }

  /** Hosts grant leases to processes that read their notices. */
  #listen(host: HostPort): void {
    if (this.#leases.has(host)) return;
    this.#leases.set(host, new Map());
    this.#early.set(host, new Map());
    host.listen((notice) => this.#options.inTurn(() => this.#noticed(host, notice)));
  }

  #granted(lease: HeldLease, queue: TaskQueue): void {
    this.#leases.get(lease.host)!.set(lease.id, { lease, queue });
    const early = this.#early.get(lease.host)!;
    const notice = early.get(lease.id);
    if (notice !== undefined) {
      early.delete(lease.id);
      this.#options.clock.nextTurn(() => this.#options.inTurn(() => this.#noticed(lease.host, notice)));
    }
    this.#sweepLater();
  }

  #leave(lease: HeldLease): void {
    this.#leases.get(lease.host)?.delete(lease.id);
    lease.worker.endLease(lease.id);
    lease.host.giveBack(lease.id);
  }

  #noticed(host: HostPort, notice: LeaseNotice): void {
    const { lease: id, kind, reason } = notice;
    const known = this.#leases.get(host)?.get(id);
    if (known === undefined) {
      const early = this.#early.get(host)!.set(id, notice);
      this.#options.clock.after(EARLY_MS, () => early.delete(id));
      return;
    }
    const { lease, queue } = known;
    if (kind === "ended") {
      lease.ended = { reason, begun: notice.begun };
      this.#leases.get(host)?.delete(id);
      queue.lost(lease);
      lease.lost?.reported();
    } else {
      lease.isWanted = true;
      if (lease.isIdle) queue.leave(lease);
      else if (lease.sent > 1) lease.worker.takeBack(id);
    }
  }

  #send(task: PendingTask, lease: HeldLease, queue: TaskQueue): boolean {
    const order = lease.orderOf(task);
    lease.add(task);
    try {
      lease.worker.run(order, task);
    } catch (error) {
      lease.remove(task);
      if (order.defines !== undefined) lease.forget(task.task);
      if ((error as Error).name === "BackpressureError") return false;
      if (this.#options.isLost(error)) {
        // Nothing was sent, so that any task can be sent to another process.
        queue.lost(lease);
        return false;
      }
      this.#reject(task, error as Error);
      return true;
    }
    return true;
  }

  #ended(task: PendingTask, lease: HeldLease, queue: TaskQueue, outcome: TaskOutcome): void {
    const { stored } = outcome;
    if (stored === undefined) {
      this.#arrived(task, lease, queue, outcome, outcome.value);
      return;
    }
    const received = this.#options.receive(task.result, stored, lease, outcome.references === true);
    const end = (value: ReceivedValue) => this.#arrived(task, lease, queue, outcome, value);
    if (received instanceof Promise) received.then(end, (error: Error) => this.#failed(task, lease, queue, error));
    else end(received);
  }

  /** The result of a task is here. Its worker keeps it, and what is referred to in it, until this process has both. */
  #arrived(task: PendingTask, lease: HeldLease, queue: TaskQueue, outcome: TaskOutcome, value: ReceivedValue): void {
    const { inTurn, referencesIn } = this.#options;
    const end = (isKept: boolean, refs: readonly object[] | undefined) => {
      if (isKept) inTurn(() => lease.worker.taken(lease.id, task.id));
      this.#endedWith(task, lease, queue, outcome, value, refs);
    };
    const isStored = outcome.stored !== undefined;
    if (outcome.references !== true || "elsewhere" in value) {
      end(isStored, undefined);
      return;
    }
    const { refs, borrowed } = referencesIn(task.task, value, lease.worker.proc);
    if (borrowed === undefined) end(isStored, refs);
    else void borrowed.then(() => end(true, refs));
  }

  /**
   * @param value the result of a task that is done
   * @param refs the references in it
   */
  #endedWith(
    task: PendingTask,
    lease: HeldLease,
    queue: TaskQueue,
    { state, micros }: TaskOutcome,
    value: ReceivedValue,
    refs: readonly object[] | undefined,
  ): void {
    if (state === "done") {
      task.times.add(micros);
      this.#forget(task);
      lease.remove(task);
      // Most results are small.
      const isSmall = value instanceof Uint8Array && value.length < MIN_STORED_BYTES;
      if (!isSmall) this.#options.noteLarge(task.result);
      try {
        if (!isSmall && "elsewhere" in value) task.result.located(value.elsewhere);
        else task.result.resolve(value, refs);
      } catch (error) {
        task.result.reject(error as Error);
      }
    } else {
      lease.remove(task, state !== "returned");
      if (state === "cancelled" || task.cancelled !== undefined) this.#settleCancelled(task);
      else this.#again(task, queue);
    }
    this.#options.callInTurn(endedIn, queue, lease);
  }

  #again(task: PendingTask, queue: TaskQueue): void {
    if (this.#closed === undefined) queue.putBack(task);
  }

  #failed(task: PendingTask, lease: HeldLease, queue: TaskQueue, error: Error): void {
    lease.remove(task);
    if (!this.#options.isLost(error)) {
      if (task.cancelled !== undefined) this.#settleCancelled(task);
      else this.#reject(task, taskErrorOf(task.label, error));
      this.#options.callInTurn(endedIn, queue, lease);
      return;
    }
    queue.lost(lease);
    if (task.cancelled !== undefined) {
      this.#settleCancelled(task);
    } else {
      lease.lost ??= new LostTasks(lease, this.#options.clock, (tasks) => this.#settleLost(tasks, lease, queue, error));
      queue.lostTasks++;
      lease.lost.add(task);
    }
    this.#options.inTurn(() => queue.dispatch());
  }

  #settleLost(tasks: readonly PendingTask[], lease: HeldLease, queue: TaskQueue, error: Error): void {
    queue.lostTasks -= tasks.length;
    // The last one first, so that they are before the others of the queue in their order.
    for (const task of [...tasks].reverse()) {
      if (task.result.isSettled) continue;
      const fate = fateOf(task, lease.ended, error);
      if (fate === "again") {
        this.#again(task, queue);
      } else {
        this.#reject(task, fate);
      }
    }
    this.#options.inTurn(() => queue.dispatch());
    this.#sweepLater();
  }

  #sweepLater(): void {
    if (this.#isSweeping || this.#closed !== undefined) return;
    this.#isSweeping = true;
    this.#options.clock.after(SWEEP_MS, () => {
      this.#isSweeping = false;
      if (this.#closed !== undefined) return;
      this.#options.inTurn(() => {
        for (const [key, queue] of this.#queues) {
          queue.sweep();
          if (!queue.isEmpty) continue;
          this.#queues.delete(key);
          this.#last = undefined;
          this.#choices.keep(queue.taskClass, queue.hosts);
        }
      });
      if (this.#queues.size > 0) this.#sweepLater();
    });
  }
}

// Closures for each task would be garbage.
const addTo = (queue: TaskQueue, task: PendingTask): void => queue.add(task);
const endedIn = (queue: TaskQueue, lease: HeldLease): void => queue.ended(lease);

/** Returns whether a task of the same lease may be the one that runs, so that the other one has not begun. */
function runsBefore(task: PendingTask, other: PendingTask): boolean {
  return task.order < other.order && task.cancelled === undefined;
}
