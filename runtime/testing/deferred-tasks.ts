/**
 * The tasks of one process that became due while the process was busy or paused, in the order in which they were
 * requested. They wait here, and one waker task represents all of them among the other tasks, so that thousands of
 * waiting tasks cost no more than one.
 */
/** Number of taken entries after which the list is cut. */
const COMPACT_AFTER = 1024;

/** A task as this list needs it. */
interface OrderedTask {
  readonly order: number;
  /** Undefined once the task is cancelled. */
  readonly run: (() => void) | undefined;
}

export class DeferredTasks<T extends OrderedTask> {
  /** The task that represents all parked tasks in the scheduler. */
  waker: T | undefined;
  #tasks: T[] = [];
  #head = 0;

  get isEmpty(): boolean {
    return this.#head === this.#tasks.length;
  }

  add(task: T): void {
    const tasks = this.#tasks;
    let low = this.#head;
    let high = tasks.length;
    // Usually the new task is the last one.
    if (low === high || tasks[high - 1]!.order < task.order) {
      tasks.push(task);
      return;
    }
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tasks[middle]!.order < task.order) low = middle + 1;
      else high = middle;
    }
    tasks.splice(low, 0, task);
  }

  /** Takes the first task that was not cancelled. */
  takeFirst(): T | undefined {
    while (!this.isEmpty) {
      const task = this.#tasks[this.#head++]!;
      if (this.#head >= COMPACT_AFTER) {
        this.#tasks = this.#tasks.slice(this.#head);
        this.#head = 0;
      }
      if (task.run !== undefined) return task;
    }
    return undefined;
  }
}
