/** What tests of values on disk see of a process and its context. */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";

const recordBytes = 65_536;

/** Returns the numbers of the descriptors of a process whose files were in a folder. */
export function spilledFiles(folder: string, pid: number | "self" = "self"): number[] {
  return linksOf(pid).flatMap(([file, link]) => (link.startsWith(`${folder}/`) ? [file] : []));
}

function linksOf(pid: number | "self"): [file: number, link: string][] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((file) => {
    try {
      return [[Number(file), readlinkSync(`/proc/${pid}/fd/${file}`)]];
    } catch {
      return [];
    }
  });
}

/** The use of memory and disk by all processes of a host, in bytes. */
export interface Use {
  memory: number;
  disk: number;
  values: number;
  spilled: number;
}

/** Reads the record of a context, whose host is managed by this process. */
export function useOf(context: string): Use {
  for (const [file, link] of linksOf("self")) {
    if (link !== "/memfd:viceroy (deleted)") continue;
    const bytes = Buffer.alloc(recordBytes);
    const opened = openSync(`/proc/self/fd/${file}`, "r");
    const read = readSync(opened, bytes, 0, recordBytes, 0);
    closeSync(opened);
    if (read !== recordBytes || !bytes.toString("latin1", 0, 64).startsWith(context)) continue;
    if (bytes.toString("latin1", 56, 63) !== "objects") continue;
    const sum: Use = { memory: 0, disk: 0, values: 0, spilled: 0 };
    for (let slot = 64; slot < recordBytes; slot += 64) {
      sum.memory += Number(bytes.readBigInt64LE(slot + 8));
      sum.disk += Number(bytes.readBigInt64LE(slot + 16));
      sum.values += Number(bytes.readBigInt64LE(slot + 24));
      sum.spilled += Number(bytes.readBigInt64LE(slot + 32));
    }
    return sum;
  }
  throw new Error(`context ${context} has no record in this process`);
}
