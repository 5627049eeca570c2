/**
 * Virtual time: tasks with a time each, done one after another, each with all that follows from it at once (microtasks)
 * before the next. Time jumps from task to task. Of tasks of one owner at the same time the one that was asked for first
 * comes first; which owner comes first the seed decides.
 */
import type { Parked } from "./parked.js";
import { Seeded } from "./seeded.js";
import type { Trace } from "./trace.js";

/** Whose tasks they are: a simulated process. */
export interface Runner {
  readonly name: string;
  /** Decides with the time whose task is first. */
  readonly tie: number;
  /** Its tasks whose time has come while it could not do them. */
  readonly parked: Parked;
  /** When it can do something again, in ms: it is at work, or stopped. */
  busyUntil: number;
  /** It does nothing any more: its tasks are dropped. */
  readonly ended: boolean;
  /** Its code runs from now on. */
  enter(): void;
  /** A task of its has thrown. */
  threw(error: unknown): void;
}

export interface Task {
  /** In ms. */
  time: number;
  readonly order: number;
  tie: number;
  readonly owner: Runner | undefined;
  readonly what: string;
  /** Undefined: it was cancelled. */
  run: (() => void) | undefined;
}

/** How long a task takes its process, in ms. */
const leastWork = 0.001;
const mostWork = 0.02;
/** So often the real event loop is waited for, 1 ms each time, by code that waits for something real. */
const patience = 2000;
/** Tasks that are done before the real event loop gets its turn. */
const burst = 64;

const standstill =
  "nothing is left to happen, and it has not ended: something is awaited that never comes, or that is not simulated " +
  "(files, sockets, modules)";

// The machine's own, also while the simulation stands in for them.
const { setImmediate, setTimeout } = globalThis;

export class Scheduler {
  /** In ms since the start. */
  now = 0;
  /** Whose task is being done. */
  current: Runner | undefined;
  /** Tasks that have been done. */
  done = 0;
  /** What is later than that is not done: it fails. */
  deadline: { readonly time: number; readonly why: () => string } | undefined;
  /** Told between tasks. */
  between: (() => void) | undefined;
  readonly #trace: Trace;
  readonly #random: Seeded;
  readonly #heap: Task[] = [];
  #orders = 0;
  #finished: ((error?: unknown) => void) | undefined;
  /** Looks in vain for something to do, since there was something. */
  #idle = 0;

  constructor(seed: number, trace: Trace) {
    this.#random = new Seeded(seed, "scheduler");
    this.#trace = trace;
  }

  /** @param what for the trace */
  at(time: number, owner: Runner | undefined, what: string, run: () => void): Task {
    const task = { time: Math.max(time, this.now), order: ++this.#orders, tie: 0, owner, what, run };
    this.#push(task);
    return task;
  }

  /** Does tasks until `stop` is called. Rejects with what a task of nobody threw, and when there is nothing to do. */
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

  /** The next task whose owner can do it. */
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

  /** Sees to it that what waits for a process is done when that can do it. */
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

/** The same for all tasks of an owner at one time. */
function tieOf(owner: number, time: number): number {
  double[0] = time;
  return Math.imul(owner ^ words[0]! ^ Math.imul(words[1]!, 0x9e3779b1), 0x85ebca6b);
}
