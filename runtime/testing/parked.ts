/**
 * The tasks of one process that became due while the process was busy or paused, in the order in which they were
 * requested. They wait here, and one waker task represents all of them among the other tasks, so that thousands of
 * waiting tasks cost no more than one.
 */
import type { Task } from "./scheduler.js";

/** Number of taken entries after which the list is cut. */
const spent = 1024;

export class Parked {
  /** The task that represents all parked tasks in the scheduler. */
  waker: Task | undefined;
  #tasks: Task[] = [];
  #head = 0;

  get empty(): boolean {
    return this.#head === this.#tasks.length;
  }

  add(task: Task): void {
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
  take(): Task | undefined {
    while (!this.empty) {
      const task = this.#tasks[this.#head++]!;
      if (this.#head >= spent) {
        this.#tasks = this.#tasks.slice(this.#head);
        this.#head = 0;
      }
      if (task.run !== undefined) return task;
    }
    return undefined;
  }
}
