/** The option `objects` of `JobContext.open`: how much memory and disk large values use on each host. */
import { statSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { isAbsolute } from "node:path";
import type { ObjectLimits } from "../../../generated/tasks.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../kernel.js";
import { freeBytes } from "./spill-file.js";

/** The option `objects` of `JobContext.open`. */
export interface ObjectOptions {
  /**
   * The most memory in bytes that large values use on each host. Values above it are on disk. Default: 30 % of the memory of the host, or of
   * the limit of its control group.
   */
  readonly memory?: number;
  /** The most bytes of large values on the disk of each host. 0: none. Default: 95 % of what is free in `folder` when the context is opened. */
  readonly disk?: number;
  /** The absolute path of the folder on each host in which values on disk are, as files without names. Default: that of temporary files. */
  readonly folder?: string;
  /**
   * The behavior when there is neither memory nor disk for a new value. `"wait"`: its process waits for 5 seconds at most while other
   * processes have values, and then throws ObjectStoreFullError. `"fail"`: it throws at once. Default: `"wait"`.
   */
  readonly whenFull?: "wait" | "fail";
}

/** The limits of one host, all of which are known. */
export type HostObjectLimits = Required<ObjectLimits>;

const names: readonly (keyof ObjectOptions)[] = ["memory", "disk", "folder", "whenFull"];
const MEMORY_SHARE = 0.3;
const DISK_SHARE = 0.95;

/**
 * @param what begins the text of errors
 * @throws TypeError or RangeError for an option that is malformed
 */
export function planObjects(options: ObjectOptions | undefined, what: string): ObjectLimits {
  if (options === undefined) return { whenFull: "wait" };
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${what}: expected objects to be an object, got ${describeValue(options)}`);
  }
  checkOptionNames(`${what}: objects`, options, names);
  const { memory, disk, folder, whenFull = "wait" } = options;
  if (folder !== undefined && !(typeof folder === "string" && isAbsolute(folder) && !folder.includes("\0"))) {
    throw new TypeError(`${what}: expected objects.folder to be an absolute path, got ${describeValue(folder)}`);
  }
  if (whenFull !== "wait" && whenFull !== "fail") {
    throw new TypeError(`${what}: expected objects.whenFull "wait" or "fail", got ${describeValue(whenFull)}`);
  }
  const plan: ObjectLimits = { whenFull };
  if (memory !== undefined) plan.memory = checkBytes(memory, "memory", what);
  if (disk !== undefined) plan.disk = checkBytes(disk, "disk", what);
  if (folder !== undefined) plan.folder = folder;
  return plan;
}

function checkBytes(bytes: unknown, name: string, what: string): number {
  if (Number.isSafeInteger(bytes) && (bytes as number) >= 0) return bytes as number;
  const text = `${what}: expected objects.${name} in bytes, an integer from 0, got ${describeValue(bytes)}`;
  throw typeof bytes === "number" ? new RangeError(text) : new TypeError(text);
}

/**
 * Returns the limits of this host.
 *
 * @throws Error if the program has named a folder that does not exist here
 */
export function limitsOfHost({ memory, disk, folder, whenFull }: ObjectLimits): HostObjectLimits {
  if (folder !== undefined) checkFolder(folder);
  const path = folder ?? tmpdir();
  return {
    memory: memory ?? Math.floor(machineMemory() * MEMORY_SHARE),
    disk: disk ?? Math.floor(freeIn(path) * DISK_SHARE),
    folder: path,
    whenFull,
  };
}

function checkFolder(folder: string): void {
  let why = "it is no folder";
  try {
    if (statSync(folder).isDirectory()) return;
  } catch (error) {
    why = (error as Error).message;
  }
  throw new Error(`cannot keep large values in objects.folder ${folder}: ${why}; create the folder on each host`);
}

/** Returns the memory of the machine, or of the control group of this process if that is less. */
function machineMemory(): number {
  const total = totalmem();
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(limit, total) : total;
}

function freeIn(folder: string): number {
  try {
    return freeBytes(folder);
  } catch {
    // Without a folder for temporary files, nothing is on disk.
    return 0;
  }
}
