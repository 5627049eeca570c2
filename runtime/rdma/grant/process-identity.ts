/** Who a process is, on a machine since it was started: what `ProcessIdentity` is made of, by what Linux tells in /proc. */
import { readFileSync, readlinkSync } from "node:fs";
import { sha256First64 } from "../../wire/fingerprint.js";

/** Of a machine that does not say what it is: none is the same. */
export const UNKNOWN_MACHINE = 0n;

let knownMachine: bigint | undefined;

/** Equal for processes that mean the same by a process id: same machine, since its last boot, same namespace. */
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

/** When this process has started, in clock ticks since the boot; 0 where that cannot be known. */
export function ownStartTime(): bigint {
  knownStartTime ??= startTimeOf(process.pid) ?? 0n;
  return knownStartTime;
}

/** When a process has started, in clock ticks since the boot; undefined: there is none with this id. */
export function startTimeOf(pid: number): bigint | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the name of the program, in parentheses, and may hold anything.
    const field = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .at(19);
    return field === undefined ? undefined : BigInt(field);
  } catch {
    return undefined;
  }
}
