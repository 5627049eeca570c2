/** Finds the processes of a context by a variable of their environment. */
import { processIds, readProcessFile } from "../../../runtime/process-table.js";

/** The variable that the processes of hosts, workers and actors have. */
export const mark = "VICEROY_TEST_CHAOS";
/** The variable that only the processes of workers and actors have. */
export const taskMark = "VICEROY_TEST_CHAOS_TASKS";

/** Returns the ids of the processes that have a variable with a value, and have not ended. */
export function processesWith(variable: string, value: string): number[] {
  // The memory of a zombie is gone, so that it has no environment.
  const hasMark = (pid: number) => readProcessFile(pid, "environ").split("\0").includes(`${variable}=${value}`);
  return processIds().filter((pid) => pid !== process.pid && hasMark(pid));
}
