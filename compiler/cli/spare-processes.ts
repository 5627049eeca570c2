/** Finds the spares of hosts on this machine: processes that have loaded the runtime and wait to become those of drivers. */
import { readdirSync, readFileSync } from "node:fs";

export interface SpareProcess {
  readonly pid: number;
  /** The memory that ends with it, in bytes; undefined if this user may not read it. */
  readonly memory: number | undefined;
}

/** The end of the command line of a spare, as runtime/proc/launch/spare-processes.ts starts it. */
const commandEnd = "boot.cjs\0--spare\0";

/** Returns the spares; none on a system without /proc. */
export function spareProcesses(): readonly SpareProcess[] {
  const isSpare = (pid: string) => textOf(`/proc/${pid}/cmdline`)?.endsWith(commandEnd) === true;
  return processes()
    .filter(isSpare)
    .map((pid) => ({ pid: Number(pid), memory: privateMemory(textOf(`/proc/${pid}/smaps_rollup`)) }));
}

function processes(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** A process can end while it is read. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}

function privateMemory(rollup: string | undefined): number | undefined {
  const kilobytes = [...(rollup ?? "").matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].map(([, size]) =>
    Number(size),
  );
  return kilobytes.length === 0 ? undefined : kilobytes.reduce((sum, size) => sum + size, 0) * 1024;
}
