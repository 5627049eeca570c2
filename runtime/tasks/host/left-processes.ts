/**
 * Ends what tasks and actors leave behind: processes that they have started in sessions of their own, which do not end with their
 * process group. Each process of a context has a mark in its environment, which all that it starts inherit.
 */
import { markedProcesses, taskMarkVariable as variable } from "../kernel.js";

/** The number of searches for processes: some can be started while others are killed. */
const MAX_ROUNDS = 5;
/** The time in ms in which the marks of processes that end together are collected. All processes are read for them once. */
const COLLECT_MS = 10;

/** Distinguishes this process from all that there were on this machine. */
const own = `${process.pid}-${Math.round(performance.timeOrigin)}`;
let lastMark = 0;

/** The beginning of the variables with the marks of all processes that this one has started for tasks and actors. */
export const markPrefix = `${variable}=${own}/`;

/** Returns a new mark. */
export function newMark(): string {
  return `${own}/${++lastMark}`;
}

/** Returns the environment variable that gives a process a mark. */
export function environmentOf(mark: string): Record<string, string> {
  return { [variable]: mark };
}

let ended = new Set<string>();
let killing: Promise<void> | undefined;

/** Resolves when nothing is left of what has ended until now. Never rejects. */
export async function untilKilled(): Promise<void> {
  await killing;
}

/** Kills all processes with a mark, whose first process has ended, a moment later. */
export function killMarked(mark: string): void {
  ended.add(mark);
  killing ??= new Promise((resolve) => {
    setTimeout(() => {
      const marks = ended;
      ended = new Set();
      killing = undefined;
      killAll(marks);
      resolve();
    }, COLLECT_MS);
  });
}

function killAll(marks: ReadonlySet<string>): void {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const left = markedProcesses(variable, (value) => marks.has(value));
    if (left.length === 0) return;
    for (const pid of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  }
}
