/**
 * Runs the tasks of a simulation in virtual time, one after another. All microtasks of a task run before the next task.
 * Time jumps from task to task. Tasks of one owner at the same time run in the order in which they were requested; the
 * seed decides the order between owners.
 */
import type { Parked } from "./parked.js";
import { Seeded } from "./seeded.js";
import type { Trace } from "./trace.js";

/** The owner of tasks: a simulated process. */
export interface Runner {
  readonly name: string;
  /** Decides, together with the time, the order between owners. */
  readonly tie: number;
  /** The tasks that became due while the owner was busy or paused. */
  readonly parked: Parked;
  /** The time in ms until which the owner is busy or paused. */
  busyUntil: number;
  /** Whether the owner has ended. Its tasks are then dropped. */
  readonly ended: boolean;
  /** Called before a task of the owner runs. */
  enter(): void;
  /** Handles the error of a task of the owner. */
  threw(error: unknown): void;
}

/** A scheduled task. Its owner is undefined if it belongs to the simulation itself. */
export interface Task {
  /** The time at which the task is due, in ms. */
  time: number;
  readonly order: number;
  tie: number;
  readonly owner: Runner | undefined;
  readonly what: string;
  /** The work of the task; undefined if the task was cancelled. */
  run: (() => void) | undefined;
}

/** The shortest and longest time in ms for which a task occupies its process. */
const leastWork = 0.001;
const mostWork = 0.02;
/**
 * Maximum number of waits of 1 ms for the real event loop, when no task is left because code waits for something real.
 */
const patience = 2000;
/** Number of tasks that run before the real event loop gets a turn. */
const burst = 64;

const standstill =
  "nothing is left to happen, and it has not ended: something is awaited that never comes, or that is not simulated " +
  "(files, sockets, modules)";

// The real timers, captured before a simulation replaces the global ones.
const { setImmediate, setTimeout } = globalThis;

export class Scheduler {
  /** The virtual time in ms since the start. */
  now = 0;
  /** The owner of the task that is running. */
  current: Runner | undefined;
  /** Number of tasks that have run. */
  done = 0;
  /** The simulation fails with `why()` when a task after this time is due. */
  deadline: { readonly time: number; readonly why: () => string } | undefined;
  /** Called between tasks. */
  between: (() => void) | undefined;
  readonly #trace: Trace;
  readonly #random: Seeded;
  readonly #heap: Task[] = [];
  #orders = 0;
  #finished: ((error?: unknown) => void) | undefined;
  /** Number of consecutive attempts that found no task. */
  #idle = 0;

  constructor(seed: number, trace: Trace) {
    this.#random = new Seeded(seed, "scheduler");
    this.#trace = trace;
  }

  /** @param what the name of the task in the trace */
  at(time: number, owner: Runner | undefined, what: string, run: () => void): Task {
    const task = { time: Math.max(time, this.now), order: ++this.#orders, tie: 0, owner, what, run };
    this.#push(task);
    return task;
  }

  /** Runs tasks until `stop` is called. Rejects with the error of a task without an owner, and when no task is left. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#finished = (error) => {
        this.#finished = undefined;
        this.current = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#burst();
    });
  }

  stop(error?: unknown): void {
    this.#finished?.(error);
  }

  #burst = (): void => {
    for (let i = 0; i < burst; i++) setImmediate(this.#step);
    setImmediate(this.#again);
  };

  #again = (): void => {
    if (this.#finished === undefined) return;
    if (this.#idle === 0) this.#burst();
    else if (++this.#idle > patience) this.stop(new Error(standstill));
    else setTimeout(this.#burst, 1);
  };

  #step = (): void => {
    if (this.#finished === undefined) return;
    this.current = undefined;
    try {
      this.between?.();
      if (this.#finished === undefined) return;
      const task = this.#next();
      if (task === undefined) this.#idle ||= 1;
      else {
        this.#idle = 0;
        this.#do(task);
      }
    } catch (error) {
      this.stop(error);
    }
  };

  #do({ owner, what, run, time }: Task): void {
    this.now = time;
    this.done++;
    this.#trace.note(time, owner?.name ?? "world", what);
    if (owner === undefined) {
      run!();
      return;
    }
    this.current = owner;
    owner.busyUntil = time + this.#random.between(leastWork, mostWork);
    this.#wake(owner);
    owner.enter();
    try {
      run!();
    } catch (error) {
      owner.threw(error);
    }
  }

  /** Returns the next task whose owner can run it. */
  #next(): Task | undefined {
    for (;;) {
      const task = this.#pop();
      if (task === undefined) return undefined;
      const { owner, run } = task;
      if (run === undefined || owner?.ended === true) continue;
      const { deadline } = this;
      if (deadline !== undefined && task.time > deadline.time) throw new Error(deadline.why());
      if (owner === undefined) return task;
      const { parked, busyUntil } = owner;
      if (task === parked.waker) {
        parked.waker = undefined;
        const first = busyUntil > task.time ? undefined : parked.take();
        if (first === undefined) {
          this.#wake(owner);
          continue;
        }
        first.time = task.time;
        return first;
      }
      if (busyUntil <= task.time) return task;
      parked.add(task);
      this.#wake(owner);
    }
  }

  /** Schedules the parked tasks of a process for the time at which the process is free. */
  #wake(owner: Runner): void {
    const { parked, busyUntil } = owner;
    if (parked.empty || (parked.waker !== undefined && parked.waker.time <= busyUntil)) return;
    if (parked.waker !== undefined) parked.waker.run = undefined;
    const order = ++this.#orders;
    parked.waker = { time: busyUntil, order, tie: 0, owner, what: "wake", run: nothing };
    this.#push(parked.waker);
  }

  #push(task: Task): void {
    const heap = this.#heap;
    task.tie = task.owner === undefined ? 0 : tieOf(task.owner.tie, task.time);
    let at = heap.length;
    heap.push(task);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!earlier(task, heap[above]!)) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = task;
  }

  #pop(): Task | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || first === last) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && earlier(heap[below + 1]!, heap[below]!)) below++;
      if (!earlier(heap[below]!, last!)) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last!;
    return first;
  }
}

function nothing(): void {}

function earlier(a: Task, b: Task): boolean {
  if (a.time !== b.time) return a.time < b.time;
  return a.tie === b.tie ? a.order < b.order : a.tie < b.tie;
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

/** Returns the order of an owner at one time. It is the same for all its tasks at that time. */
function tieOf(owner: number, time: number): number {
  double[0] = time;
  return Math.imul(owner ^ words[0]! ^ Math.imul(words[1]!, 0x9e3779b1), 0x85ebca6b);
}
