/** What /proc/<pid>/stat says about a process. */
import { readFileSync } from "node:fs";

export interface ProcessStat {
  /** The id of the process that has started it. */
  readonly parent: number;
  /** When it was started, in units of the system since its start. */
  readonly startTime: string;
  /** Its resident memory in pages. */
  readonly residentPages: number;
}

/** Returns undefined if the process does not run, and on systems without /proc. */
export function processStat(pid: number): ProcessStat | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name of the program may contain spaces and parentheses. The fields after it begin with the state.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { parent: Number(fields[1]), startTime: fields[19]!, residentPages: Number(fields[21]) };
}
