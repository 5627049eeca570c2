/**
 * Runs the tasks of a simulation in virtual time, one after another. All microtasks of a task run before the next task.
 * Time jumps from task to task. Tasks of one owner at the same time run in the order in which they were requested; the
 * seed decides the order between owners.
 */
import type { DeferredTasks } from "./deferred-tasks.js";
import type { EventTrace } from "./event-trace.js";
import { Seeded } from "./seeded-random.js";

/** The owner of tasks: a simulated process. */
export interface TaskOwner {
  readonly name: string;
  /** Decides, together with the time, the order between owners. */
  readonly tieBreaker: number;
  /** The tasks that became due while the owner was busy or paused. */
  readonly deferred: DeferredTasks<ScheduledTask>;
  /** The time in ms until which the owner is busy or paused. */
  busyUntil: number;
  /** Whether the owner has ended. Its tasks are then dropped. */
  readonly ended: boolean;
  /** Called before a task of the owner runs. */
  enter(): void;
  /** Handles the error of a task of the owner. */
  uncaughtError(error: unknown): void;
}

/** A scheduled task. Its owner is undefined if it belongs to the simulation itself. */
export interface ScheduledTask {
  /** The time at which the task is due, in ms. */
  time: number;
  readonly order: number;
  tieBreaker: number;
  readonly owner: TaskOwner | undefined;
  readonly what: string;
  /** The work of the task; undefined if the task was cancelled. */
  run: (() => void) | undefined;
}

/** The shortest and longest time in ms for which a task occupies its process. */
const MIN_WORK_MS = 0.001;
const MAX_WORK_MS = 0.02;
/**
 * Maximum number of waits of 1 ms for the real event loop, when no task is left because code waits for something real.
 */
const MAX_IDLE_POLLS = 2000;
/** Number of tasks that run before the real event loop gets a turn. */
const TASKS_PER_BURST = 64;

const standstill =
  "no task is left, and the scenario has not ended: it waits for something that never happens, or that is not " +
  "simulated (files, sockets, modules)";

// The real timers, captured before a simulation replaces the global ones.
const { setImmediate, setTimeout } = globalThis;

export class Scheduler {
  /** The virtual time in ms since the start. */
  now = 0;
  /** The owner of the task that is running. */
  current: TaskOwner | undefined;
  /** Number of tasks that have run. */
  tasksDone = 0;
  /** The simulation fails with `why()` when a task after this time is due. */
  deadline: { readonly time: number; readonly why: () => string } | undefined;
  /** Called between tasks. */
  betweenTasks: (() => void) | undefined;
  readonly #trace: EventTrace;
  readonly #random: Seeded;
  readonly #heap: ScheduledTask[] = [];
  #lastOrder = 0;
  #onFinished: ((error?: unknown) => void) | undefined;
  /** Number of consecutive attempts that found no task. */
  #idlePolls = 0;

  constructor(seed: number, trace: EventTrace) {
    this.#random = new Seeded(seed, "scheduler");
    this.#trace = trace;
  }

  /** @param what the name of the task in the trace */
  schedule(time: number, owner: TaskOwner | undefined, what: string, run: () => void): ScheduledTask {
    const task = { time: Math.max(time, this.now), order: ++this.#lastOrder, tieBreaker: 0, owner, what, run };
    this.#push(task);
    return task;
  }

  /** Runs tasks until `stop` is called. Rejects with the error of a task without an owner, and when no task is left. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onFinished = (error) => {
        this.#onFinished = undefined;
        this.current = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#runBurst();
    });
  }

  stop(error?: unknown): void {
    this.#onFinished?.(error);
  }

  #runBurst = (): void => {
    for (let i = 0; i < TASKS_PER_BURST; i++) setImmediate(this.#step);
    setImmediate(this.#continue);
  };

  #continue = (): void => {
    if (this.#onFinished === undefined) return;
    if (this.#idlePolls === 0) this.#runBurst();
    else if (++this.#idlePolls > MAX_IDLE_POLLS) this.stop(new Error(standstill));
    else setTimeout(this.#runBurst, 1);
  };

  #step = (): void => {
    if (this.#onFinished === undefined) return;
    this.current = undefined;
    try {
      this.betweenTasks?.();
      if (this.#onFinished === undefined) return;
      const task = this.#takeRunnable();
      if (task === undefined) this.#idlePolls ||= 1;
      else {
        this.#idlePolls = 0;
        this.#runTask(task);
      }
    } catch (error) {
      this.stop(error);
    }
  };

  #runTask({ owner, what, run, time }: ScheduledTask): void {
    this.now = time;
    this.tasksDone++;
    this.#trace.note(time, owner?.name ?? "world", what);
    if (owner === undefined) {
      run!();
      return;
    }
    this.current = owner;
    owner.busyUntil = time + this.#random.between(MIN_WORK_MS, MAX_WORK_MS);
    this.#scheduleWaker(owner);
    owner.enter();
    try {
      run!();
    } catch (error) {
      owner.uncaughtError(error);
    }
  }

  /** Returns the next task whose owner can run it. */
  #takeRunnable(): ScheduledTask | undefined {
    for (;;) {
      const task = this.#pop();
      if (task === undefined) return undefined;
      const { owner, run } = task;
      if (run === undefined || owner?.ended === true) continue;
      const { deadline } = this;
      if (deadline !== undefined && task.time > deadline.time) throw new Error(deadline.why());
      if (owner === undefined) return task;
      const { deferred, busyUntil } = owner;
      if (task === deferred.waker) {
        deferred.waker = undefined;
        const first = busyUntil > task.time ? undefined : deferred.takeFirst();
        if (first === undefined) {
          this.#scheduleWaker(owner);
          continue;
        }
        first.time = task.time;
        return first;
      }
      if (busyUntil <= task.time) return task;
      deferred.add(task);
      this.#scheduleWaker(owner);
    }
  }

  /** Schedules the parked tasks of a process for the time at which the process is free. */
  #scheduleWaker(owner: TaskOwner): void {
    const { deferred, busyUntil } = owner;
    if (deferred.isEmpty || (deferred.waker !== undefined && deferred.waker.time <= busyUntil)) return;
    if (deferred.waker !== undefined) deferred.waker.run = undefined;
    const order = ++this.#lastOrder;
    deferred.waker = { time: busyUntil, order, tieBreaker: 0, owner, what: "wake", run: doNothing };
    this.#push(deferred.waker);
  }

  #push(task: ScheduledTask): void {
    const heap = this.#heap;
    task.tieBreaker = task.owner === undefined ? 0 : tieBreakerOf(task.owner.tieBreaker, task.time);
    let at = heap.length;
    heap.push(task);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isEarlier(task, heap[above]!)) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = task;
  }

  #pop(): ScheduledTask | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || first === last) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isEarlier(heap[below + 1]!, heap[below]!)) below++;
      if (!isEarlier(heap[below]!, last!)) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last!;
    return first;
  }
}

function doNothing(): void {}

function isEarlier(a: ScheduledTask, b: ScheduledTask): boolean {
  if (a.time !== b.time) return a.time < b.time;
  return a.tieBreaker === b.tieBreaker ? a.order < b.order : a.tieBreaker < b.tieBreaker;
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

/** Returns the order of an owner at one time. It is the same for all its tasks at that time. */
function tieBreakerOf(owner: number, time: number): number {
  double[0] = time;
  return Math.imul(owner ^ words[0]! ^ Math.imul(words[1]!, 0x9e3779b1), 0x85ebca6b);
}
