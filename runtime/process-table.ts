/** Reads the processes of this machine from /proc. On systems without /proc there are none. */
import { readdirSync, readFileSync } from "node:fs";

/**
 * The environment variable that marks the processes of tasks and actors, and what they start: all of it ends with them. What shall
 * outlive them, such as a job that a task submits, is started without it.
 */
export const taskMarkVariable = "VICEROY_TASK_PROCESS";

/** The fields of /proc/<pid>/stat that are used. */
export interface ProcessStat {
  /** One letter: `Z` for a process that has ended, and whose parent has not asked how. */
  readonly state: string;
  /** Whether it ends, or has ended. A process that was killed gives back its memory first, and has another state than `Z` until then. */
  readonly isEnding: boolean;
  /** The id of the process that has started it. */
  readonly parent: number;
  /** The id of its session. */
  readonly session: number;
  /** When it was started, in units of the system since its start. */
  readonly startTime: string;
  /** Its resident memory in pages. */
  readonly residentPages: number;
}

/** The flag of a process that ends, `PF_EXITING` of Linux. */
const EXITING = 0x4;

/** Returns undefined if the process does not exist. */
export function processStat(pid: number): ProcessStat | undefined {
  const stat = readProcessFile(pid, "stat");
  if (stat === "") return undefined;
  // The name of the program is in parentheses and can contain anything. The fields after it begin with the state.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    state: fields[0]!,
    isEnding: (Number(fields[6]) & EXITING) !== 0,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTime: fields[19]!,
    residentPages: Number(fields[21]),
  };
}

/** Returns the ids of all processes. */
export function processIds(): number[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  return names.map(Number).filter(Number.isInteger);
}

/** Returns what a file of a process contains; an empty text if the process has ended or belongs to another user. */
export function readProcessFile(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

/**
 * Returns the processes whose environment has a variable with a wanted value, and their descendants, except this process. A
 * process inherits the variable, also in a session of its own; descendants that have cleared their environment are found through
 * their parents.
 */
export function markedProcesses(variable: string, isWanted: (value: string) => boolean): number[] {
  const start = `${variable}=`;
  const children = new Map<number, number[]>();
  const found = new Set<number>();
  for (const pid of processIds()) {
    if (pid === process.pid) continue;
    const { state, parent } = processStat(pid) ?? { state: "X", parent: 0 };
    if (state === "Z" || state === "X") continue;
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    const own = readProcessFile(pid, "environ")
      .split("\0")
      .find((line) => line.startsWith(start));
    if (own !== undefined && isWanted(own.slice(start.length))) found.add(pid);
  }
  // A set also visits what is added to it meanwhile.
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return [...found];
}
