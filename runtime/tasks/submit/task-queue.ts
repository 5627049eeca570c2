/** The tasks of one class that wait for a worker, and the leases on which they run. */
import { WorkerLostError } from "../errors.js";
import type { Clock } from "../kernel.js";
import { Fifo } from "./fifo.js";
import { HeldLease, type LeaseHolder } from "./held-lease.js";
import type { HostChoice, HostUse } from "./host-choice.js";
import type { PendingTask } from "./pending-task.js";
import { type GrantedLease, HostLostError, type HostPort, type SubmitterOptions } from "./ports.js";
import type { TaskClass } from "./task-class.js";

/** The time in ms for which a lease without tasks is kept for the next ones. */
const LINGER_MS = 100;
/** The time in ms after which more hosts are asked, and after which tasks that wait behind a long one are taken back. */
const PATIENCE_MS = 20;
/** The time in ms after which other hosts than the one that has the arguments are asked: moving 100 MB takes about as long. */
const NEAR_PATIENCE_MS = 100;
/** The number of processes of a host that may end while they start, one after the other, before the host counts as unable. */
const START_TRIES = 5;

interface Request {
  readonly at: HostUse;
  readonly abort: AbortController;
  readonly since: number;
}

/** The parts of a submitter that a queue uses. */
export interface QueueOwner extends LeaseHolder, Pick<SubmitterOptions, "holder" | "clock" | "inTurn"> {
  readonly clock: Clock;
  /** Called before a host is asked for a lease. */
  asking(host: HostPort): void;
  /**
   * Sends a task to the worker of a lease. Returns false if nothing can be sent to it now, or if its process has ended; the lease is
   * dropped then.
   */
  send(task: PendingTask, lease: HeldLease): boolean;
  granted(lease: HeldLease): void;
  /** Gives a lease back, which has no tasks. */
  leave(lease: HeldLease): void;
  /** Settles a task that no host can run. */
  reject(task: PendingTask, error: Error): void;
}

export class TaskQueue {
  readonly taskClass: TaskClass;
  readonly waiting = new Fifo<PendingTask>();
  readonly leases = new Set<HeldLease>();
  /** The leases that have nothing to do, and those that may take more. They are checked before use. */
  readonly #idle = new Set<HeldLease>();
  readonly #roomy = new Set<HeldLease>();
  readonly #requests = new Set<Request>();
  /** The hosts that can run the tasks. */
  readonly hosts: HostChoice;
  readonly #uses = new Map<HeldLease, HostUse>();
  readonly #owner: QueueOwner;
  #extraRequests = 0;
  /** The time since which tasks have waited for the host that has their arguments, although it has no process for them. */
  #nearBusySince: number | undefined;

  constructor(taskClass: TaskClass, hosts: HostChoice, owner: QueueOwner) {
    this.taskClass = taskClass;
    this.hosts = hosts;
    this.#owner = owner;
  }

  /** The number of tasks whose process has ended, and which may come back. */
  lostTasks = 0;

  /** Whether there are no tasks, leases and requests. */
  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.lostTasks === 0 && this.leases.size === 0 && this.#requests.size === 0;
  }

  add(task: PendingTask): void {
    if (this.waiting.length === 0) {
      const lease = this.#leaseFor(task);
      if (lease !== undefined && this.#owner.send(task, lease)) return;
    }
    task.queue = this;
    this.waiting.push(task);
    this.dispatch();
  }

  /** Puts a task that was sent, and has not run, where it was: before the tasks that were submitted later. */
  putBack(task: PendingTask): void {
    task.queue = this;
    this.waiting.putBack(task, wasSubmittedBefore);
  }

  remove(task: PendingTask): boolean {
    return this.waiting.remove(task);
  }

  /** Sends as many tasks as the leases take, and asks for more leases if tasks are left. */
  dispatch(): void {
    for (let task = this.waiting.first(); task !== undefined; task = this.waiting.first()) {
      const lease = this.#leaseFor(task);
      if (lease === undefined) break;
      this.waiting.shift();
      task.queue = undefined;
      if (!this.#owner.send(task, lease)) {
        this.putBack(task);
        if (this.leases.has(lease)) break;
      }
    }
    if (this.waiting.length > 0) this.#askForMore();
    else this.#nearBusySince = undefined;
  }

  #leaseFor(task: PendingTask): HeldLease | undefined {
    for (const lease of this.#idle) {
      this.#idle.delete(lease);
      if (!this.leases.has(lease) || !lease.hasRoomFor(task)) continue;
      this.#roomy.add(lease);
      return lease;
    }
    for (const lease of this.#roomy) {
      if (this.leases.has(lease) && lease.hasRoomFor(task)) return lease;
      this.#roomy.delete(lease);
    }
    return undefined;
  }

  /** Called when a task of a lease has ended: the lease may take another one. */
  ended(lease: HeldLease): void {
    if (!this.leases.has(lease)) return;
    if (lease.isIdle && (lease.isLeaving || this.#isSpare(lease))) this.leave(lease);
    else if (lease.isIdle) this.#idle.add(lease);
    else this.#roomy.add(lease);
    this.dispatch();
  }

  /** Returns whether a lease is not kept for later tasks, because their arguments are on another host, which is asked first again. */
  #isSpare(lease: HeldLease): boolean {
    const use = this.#uses.get(lease);
    return this.waiting.length === 0 && use !== undefined && this.hosts.isAway(use);
  }

  /** Gives a lease back. Its tasks have ended. */
  leave(lease: HeldLease): void {
    this.#forget(lease);
    this.#owner.leave(lease);
  }

  /** Drops a lease whose process has ended. */
  lost(lease: HeldLease): void {
    this.#forget(lease);
  }

  #forget(lease: HeldLease): void {
    if (!this.leases.delete(lease)) return;
    const use = this.#uses.get(lease);
    this.#uses.delete(lease);
    this.#idle.delete(lease);
    this.#roomy.delete(lease);
    if (use !== undefined) use.used--;
  }

  #askForMore(): void {
    // Tasks on leases can all be waiting for those in this queue, so that the leases do not count.
    const wanted = Math.min(this.waiting.length, this.hosts.capacity);
    while (this.#requests.size < wanted + this.#extraRequests) {
      if (this.#extraRequests === 0 && this.hosts.isNearBusy) {
        this.#nearBusySince ??= this.#owner.now();
        return;
      }
      const at = this.hosts.next(this.#requests.size >= wanted);
      if (at === undefined) {
        if (this.leases.size === 0 && this.#requests.size === 0) this.#rejectAll(this.hosts.refusal!);
        return;
      }
      this.#ask(at);
    }
  }

  #ask(at: HostUse): void {
    const { clock, holder, inTurn } = this.#owner;
    const request: Request = { at, abort: new AbortController(), since: clock.now() };
    this.#requests.add(request);
    at.used++;
    at.asked++;
    this.#owner.asking(at.host);
    const { resources, environment, bundle, maxCalls } = this.taskClass;
    const order = {
      holder,
      label: this.waiting.first()!.label,
      resources: { ...resources },
      fresh: Number.isFinite(maxCalls),
      ...(environment !== undefined && { environment }),
      ...(bundle !== undefined && { group: bundle.group, bundle: bundle.index }),
    };
    at.host.lease(order, request.abort.signal).then(
      (lease) => inTurn(() => this.#granted(request, lease)),
      (error: unknown) => inTurn(() => this.#refused(request, error as Error)),
    );
  }

  #granted(request: Request, granted: GrantedLease): void {
    this.#requests.delete(request);
    const { at } = request;
    at.asked--;
    at.lostStarts = 0;
    const lease = new HeldLease(at.host, granted, this.taskClass, this.#owner);
    this.leases.add(lease);
    this.#uses.set(lease, at);
    this.#owner.granted(lease);
    this.#idle.add(lease);
    this.dispatch();
    if (lease.isIdle && this.#isSpare(lease)) this.leave(lease);
  }

  #refused(request: Request, error: Error): void {
    this.#requests.delete(request);
    const { at, abort } = request;
    at.asked--;
    at.used--;
    // A process that was killed while it started says nothing about the next one.
    const mayTryAgain =
      abort.signal.aborted || (error instanceof WorkerLostError && this.hosts.startLost(at) <= START_TRIES);
    if (!mayTryAgain) this.hosts.refuse(at, error);
    this.dispatch();
  }

  /** Rejects the tasks that wait, because all hosts have ended or refused them. */
  #rejectAll(reason: Error): void {
    for (const task of this.waiting.takeAll()) {
      task.queue = undefined;
      this.#owner.reject(task, reason instanceof HostLostError ? lostHosts(task, reason) : reason);
    }
  }

  /** Called from time to time, while the queue is not empty. */
  sweep(): void {
    const now = this.#owner.clock.now();
    for (const lease of this.leases) this.#sendEarly(lease, now);
    if (this.waiting.length > 0) {
      const since = this.#nearBusySince ?? Number.POSITIVE_INFINITY;
      const oldest = Math.min(since, ...[...this.#requests].map((request) => request.since));
      const isLate = now - oldest > (this.hosts.isNear ? NEAR_PATIENCE_MS : PATIENCE_MS);
      if (this.#requests.size > 0 && isLate) {
        this.#extraRequests = Math.min(this.#requests.size, this.hosts.count - 1);
      }
      // The tasks of all leases may wait for those in the queue: the host has room for one more then.
      if (this.#requests.size === 0 && (since === Number.POSITIVE_INFINITY || isLate))
        this.#extraRequests = Math.max(1, this.leases.size - this.hosts.capacity + 1);
      this.dispatch();
      return;
    }
    this.#extraRequests = 0;
    for (const { abort } of this.#requests) abort.abort();
    for (const lease of this.leases) if (lease.isIdle && now - lease.idleSince >= LINGER_MS) this.leave(lease);
  }

  /** Withdraws all requests, and gives leases back, apart from those whose tasks run: they end with this process. */
  close(): void {
    for (const { abort } of this.#requests) abort.abort();
    for (const lease of [...this.leases]) if (lease.isIdle) this.leave(lease);
  }

  /** Takes back tasks that wait behind one that takes long: they join the queue, and other leases are asked for. */
  #sendEarly(lease: HeldLease, now: number): void {
    if (lease.isSlow || lease.isIdle || now - lease.busySince <= PATIENCE_MS) return;
    lease.isSlow = true;
    if (lease.sent > 1) lease.worker.takeBack(lease.id);
  }
}

function lostHosts({ label }: PendingTask, cause: Error): Error {
  return new HostLostError(`cannot run ${label}: no host of the context is left: ${cause.message}`, { cause });
}

/** The numbers of tasks are those of their results, which ascend in a process. */
function wasSubmittedBefore(first: PendingTask, second: PendingTask): boolean {
  return first.id < second.id;
}
