/**
 * Finds and ends all processes of a job on this machine. Each process of a job has the id of the job in its
 * environment, which its descendants inherit even if they leave the session of their parent. Descendants that have
 * cleared their environment are found through their parents.
 */
import { setTimeout as pause } from "node:timers/promises";
import { markedProcesses as findMarked } from "../../process-table.js";

/** The environment variable that marks the processes of a job. */
export const markVariable = "VICEROY_JOB";

/** The environment variable that marks the keeper of a job, which ends the other processes, and itself last. */
export const keeperVariable = "VICEROY_JOB_KEEPER";

/** The environment variable that marks the processes of one host of a job. */
export const hostVariable = "VICEROY_JOB_HOST";

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
  return findMarked(variable, (value) => value === id);
}

/**
 * Ends all processes of a job: SIGTERM, then SIGKILL.
 * @param spares returns whether a process goes on
 * @param grace the time in ms between the two signals
 * @returns whether none is left
 */
export async function endMarkedProcesses(
  id: string,
  variable = markVariable,
  spares: (pid: number) => boolean = () => false,
  grace = graceMs,
): Promise<boolean> {
  const asked = new Set<number>();
  for (let waited = 0; waited < grace + killLimitMs; waited += stepMs) {
    const left = markedProcesses(id, variable).filter((pid) => !spares(pid));
    if (left.length === 0) return true;
    const isGrace = waited < grace;
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

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
