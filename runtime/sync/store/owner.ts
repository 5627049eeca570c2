/**
 * Which process a file of a store belongs to. Several processes share a store, and any of them can be killed at any moment; what
 * belongs to a process that has ended is left over.
 */
import { readFileSync, readlinkSync } from "node:fs";

/** Names a process: its id, the time of its start, and the namespace of its id. Ids of processes are used again. */
export type Owner = string;

let own: Owner | undefined;

/** Returns the name of this process. */
export function thisOwner(): Owner {
  own ??= `${process.pid}.${startOf(process.pid) ?? 0}.${namespaceOf()}`;
  return own;
}

/**
 * Returns whether a process has ended. A process in another namespace, as in another container with the same store, cannot be
 * seen; it counts as running.
 */
export function hasEnded(owner: Owner): boolean {
  const [pid = "", start = "", namespace = ""] = owner.split(".");
  if (!/^\d+$/.test(pid)) return true;
  if (namespace !== namespaceOf()) return false;
  const current = startOf(Number(pid));
  if (current !== undefined) return start !== "0" && current !== start;
  try {
    process.kill(Number(pid), 0);
    return start !== "0";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Returns the start time of a process in ticks since the start of the machine, where the system tells it and the process runs. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program, in parentheses, can contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended, and nobody has asked for its exit code yet.
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

let namespace: string | undefined;
function namespaceOf(): string {
  if (namespace === undefined) {
    try {
      namespace = readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
    } catch {
      namespace = "0";
    }
  }
  return namespace;
}
