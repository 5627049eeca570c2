/** Tells the machines apart on which processes run. */
import { readFileSync, readlinkSync } from "node:fs";
import { sha256First64 } from "./wire/fingerprint.js";

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
