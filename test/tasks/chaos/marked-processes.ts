/** Finds the processes of a context by a variable of their environment. */
import { readdirSync, readFileSync } from "node:fs";

/** The variable that the processes of hosts, workers and actors have. */
export const mark = "VICEROY_TEST_CHAOS";
/** The variable that only the processes of workers and actors have. */
export const taskMark = "VICEROY_TEST_CHAOS_TASKS";

/** Returns the ids of the processes that have a variable with a value, and have not ended. */
export function processesWith(variable: string, value: string): number[] {
  const wanted = `\0${variable}=${value}\0`;
  const pids: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The memory of a zombie is gone, so that it has no environment.
      if (`\0${readFileSync(`/proc/${name}/environ`, "latin1")}`.includes(wanted)) pids.push(Number(name));
    } catch {
      // The process has ended, or is that of another user.
    }
  }
  return pids.filter((pid) => pid !== process.pid);
}
