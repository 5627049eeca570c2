/** Reads the parts of `ProcessIdentity` from /proc. */
import { readFileSync, readlinkSync } from "node:fs";
import { sha256First64 } from "../../wire/fingerprint.js";

/** The id of a machine that cannot be identified. It equals no other machine. */
export const UNKNOWN_MACHINE = 0n;

let knownMachine: bigint | undefined;

/**
 * Returns a hash of the boot id and the namespace of process ids. It is equal for two processes exactly if they mean
 * the same process by a process id.
 */
export function ownMachineId(): bigint {
  knownMachine ??= readMachineId();
  return knownMachine;
}

function readMachineId(): bigint {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return sha256First64(`${boot} ${readlinkSync("/proc/self/ns/pid")}`);
  } catch {
    return UNKNOWN_MACHINE;
  }
}

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
