/** Reads the use of memory of processes from /proc. */
import { processIds, processStat, readProcessFile } from "../kernel.js";

/** The size of a page of memory in bytes, on the systems that have /proc/<pid>/statm and run Node.js. */
const pageSize = process.arch === "arm64" || process.arch === "ppc64" ? undefined : 4096;

/**
 * Returns the resident memory in bytes of processes and of all that they have started.
 *
 * @param roots the ids of the processes
 * @returns the sum for each process that runs; empty on systems without /proc
 */
export function memoryUse(roots: ReadonlySet<number>): Map<number, number> {
  const used = new Map<number, number>();
  const rootOf = new Map<number, number | undefined>();
  const processes = readProcesses();
  const find = (pid: number): number | undefined => {
    if (roots.has(pid)) return pid;
    if (rootOf.has(pid)) return rootOf.get(pid);
    rootOf.set(pid, undefined);
    const parent = processes.get(pid)?.parent;
    const root = parent === undefined ? undefined : find(parent);
    rootOf.set(pid, root);
    return root;
  };
  for (const [pid, { resident }] of processes) {
    const root = find(pid);
    if (root !== undefined) used.set(root, (used.get(root) ?? 0) + resident);
  }
  return used;
}

interface ProcessRecord {
  readonly parent: number;
  readonly resident: number;
}

function readProcesses(): Map<number, ProcessRecord> {
  const processes = new Map<number, ProcessRecord>();
  for (const pid of processIds()) {
    const stat = processStat(pid);
    if (stat === undefined) continue;
    processes.set(pid, { parent: stat.parent, resident: residentBytes(pid, stat.residentPages) });
  }
  return processes;
}

function residentBytes(pid: number, pages: number): number {
  if (pageSize !== undefined) return pages * pageSize;
  const [, kilobytes = "0"] = /^VmRSS:\s*(\d+) kB$/m.exec(readProcessFile(pid, "status")) ?? [];
  return Number(kilobytes) * 1024;
}
