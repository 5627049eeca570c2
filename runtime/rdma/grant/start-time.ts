/** Reads the start times of processes from /proc, which tell apart processes that have had one id. */
import { readFileSync } from "node:fs";

let knownStartTime: bigint | undefined;

/** Returns the start time of this process in clock ticks since the boot, or 0 if it is unknown. */
export function ownStartTime(): bigint {
  knownStartTime ??= startTimeOf(process.pid) ?? 0n;
  return knownStartTime;
}

/** Returns the start time of a process in clock ticks since the boot, or undefined if no process has this id. */
export function startTimeOf(pid: number): bigint | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the name of the program in parentheses, and the name may contain spaces and parentheses.
    const field = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .at(19);
    return field === undefined ? undefined : BigInt(field);
  } catch {
    return undefined;
  }
}
