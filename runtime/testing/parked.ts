/**
 * Tasks of one process whose time has come while it was at work, or stopped: the one that was asked for first comes first. They
 * wait here, and one task in their place among all others, so that thousands that wait for the same cost no more than one does.
 */
import type { Task } from "./scheduler.js";

/** The list is cut down when so many of its first entries have gone. */
const spent = 1024;

export class Parked {
  /** What stands for all of them among other tasks. */
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
    // Mostly it is the last one.
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

  /** Takes the first one that was not cancelled. */
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
