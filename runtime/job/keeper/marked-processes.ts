/**
 * Finds and ends all processes of a job on this machine. Each process of a job has the id of the job in its
 * environment, which its descendants inherit even if they leave the session of their parent. Descendants that have
 * cleared their environment are found through their parents.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** The environment variable that marks the processes of a job. */
export const markVariable = "VICEROY_JOB";

/** The environment variable that marks the keeper of a job, which ends the other processes, and itself last. */
export const keeperVariable = "VICEROY_JOB_KEEPER";

/** Time in ms for processes to end after SIGTERM, before SIGKILL. */
const graceMs = 1000;
const stepMs = 20;
/** Maximum time in ms for processes to vanish after SIGKILL: some wait for a disk. */
const killLimitMs = 10_000;

/**
 * Returns the processes that belong to a job, except this process.
 * @param id the id of the job, or of one host of a job over ssh
 * @param variable the variable that contains it
 */
export function markedProcesses(id: string, variable = markVariable): number[] {
  const mark = `${variable}=${id}`;
  const children = new Map<number, number[]>();
  const found = new Set<number>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const parent = parentOf(pid);
    if (parent === undefined) continue;
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    if (readProc(pid, "environ").split("\0").includes(mark)) found.add(pid);
  }
  // A set also visits what is added to it meanwhile.
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return [...found];
}

/** Ends all processes of a job: SIGTERM, then SIGKILL. @returns whether none is left */
export async function endMarkedProcesses(id: string, variable = markVariable): Promise<boolean> {
  const asked = new Set<number>();
  for (let waited = 0; waited < graceMs + killLimitMs; waited += stepMs) {
    const left = markedProcesses(id, variable);
    if (left.length === 0) return true;
    const isGrace = waited < graceMs;
    for (const pid of left) {
      if (!isGrace) sendSignal(pid, "SIGKILL");
      else if (!asked.has(pid)) {
        asked.add(pid);
        sendSignal(pid, "SIGTERM");
        // A stopped process does not see SIGTERM.
        sendSignal(pid, "SIGCONT");
      }
    }
    await pause(stepMs);
  }
  return false;
}

/** Returns the parent of a process; undefined if it has ended. A zombie has ended. */
function parentOf(pid: number): number | undefined {
  const text = readProc(pid, "stat");
  // The name of the program is in parentheses and can contain anything.
  const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return state === undefined || parent === undefined || state === "Z" || state === "X" ? undefined : Number(parent);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    // The process has ended, or belongs to another user.
    return "";
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
