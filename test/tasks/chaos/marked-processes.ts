/** Finds the processes of a context by a variable of their environment. */
import { markedProcesses } from "../../../runtime/process-table.js";

/** The variable that the processes of hosts, workers and actors have. */
export const mark = "VICEROY_TEST_CHAOS";
/** The variable that only the processes of workers and actors have. */
export const taskMark = "VICEROY_TEST_CHAOS_TASKS";

/** Returns the ids of the processes that have a variable with a value, and have not ended. */
export function processesWith(variable: string, value: string): number[] {
  return markedProcesses(variable, (given) => given === value);
}
