/** Finds out what the large values of contexts use, by the records of a process, which it need not answer for. */
import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import type { SeenObjects } from "../../../generated/host-agent.js";
import { MEMORY_FILE_LINK } from "../../native/rdma-addon.js";
import { CONTEXT_BYTES, HEAD, OBJECTS, RECORD_BYTES, totalUsage } from "./usage-layout.js";

/** Returns the use by the contexts whose records a process has made. Empty: it has made none, has ended, or is not to be seen. */
export function objectsOfProcess(pid: number): SeenObjects[] {
  const folder = `/proc/${pid}/fd`;
  return namesIn(folder).flatMap((name) => readRecord(`${folder}/${name}`) ?? []);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The process has ended, belongs to another user, or the system has no such folder.
    return [];
  }
}

function readRecord(path: string): SeenObjects | undefined {
  let file: number | undefined;
  try {
    if (readlinkSync(path) !== MEMORY_FILE_LINK) return undefined;
    file = openSync(path, "r");
    if (fstatSync(file).size !== RECORD_BYTES) return undefined;
    const bytes = new Uint8Array(RECORD_BYTES);
    const words = new BigInt64Array(bytes.buffer);
    if (readSync(file, bytes, 0, RECORD_BYTES, 0) < RECORD_BYTES || words[HEAD.kind] !== OBJECTS) return undefined;
    const { memory, disk, values, spilled } = totalUsage(words);
    return {
      context: Buffer.from(bytes.buffer, 0, CONTEXT_BYTES).toString("latin1"),
      ...{ memory, memoryLimit: Number(words[HEAD.memoryLimit]) },
      ...{ disk, diskLimit: Number(words[HEAD.diskLimit]) },
      ...{ values, spilled },
    };
  } catch {
    // It was closed meanwhile.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
