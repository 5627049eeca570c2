/** The text of ObjectStoreFullError. */
import { formatBytes } from "../../../shared/text/format-bytes.js";
import type { Usage } from "../kernel.js";
import { spilledSize } from "./spill-file.js";
import type { UsageLimits } from "./usage-record.js";

/** The facts that the error names when there is no room for a value. */
export interface FullState {
  /** The number of bytes of the value. */
  readonly size: number;
  readonly usage: Usage;
  readonly limits: UsageLimits;
  readonly folder: string;
  /** The error of the last attempt to write to disk. */
  readonly diskError: Error | undefined;
  /** Whether no other process has values. */
  readonly isAlone: boolean;
}

export function explainFull({ size, usage, limits, folder, diskError, isAlone }: FullState): string {
  const { memory, disk, processes } = usage;
  const isTooLarge = size > limits.memory && spilledSize(size) > limits.disk;
  const why = isTooLarge ? "it is larger than both limits" : "there is no room for it";
  const of = isAlone ? "this process" : `${processes} ${processes === 1 ? "process" : "processes"}`;
  const inUse =
    `the values of ${of} use ${formatBytes(memory)} of the ${formatBytes(limits.memory)} of memory and ` +
    `${formatBytes(disk)} of the ${formatBytes(limits.disk)} on disk in ${folder}`;
  const failed = diskError === undefined ? "" : `; the last attempt to write there has failed: ${diskError.message}`;
  const todo = isTooLarge
    ? "raise objects.memory or objects.disk of JobContext.open, or split the value"
    : "release values that are not needed any more, or raise objects.memory or objects.disk of JobContext.open";
  return `cannot store a value of ${formatBytes(size)}: ${why}: ${inUse}${failed}; ${todo}`;
}
