/** Settings and state of libtorch for the whole process: memory, threads and versions. */
import type { NativeStats, NativeVersions } from "../../native/tensor-addon.js";
import { addon } from "./addon.js";

/** The memory of tensors in this process, in bytes. */
export type TensorMemory = NativeStats;

/** Returns how much memory the tensors of this process use. */
export function tensorMemory(): TensorMemory {
  return addon().stats();
}

/** Returns memory that is kept for later tensors to the operating system. */
export function emptyCache(): void {
  addon().emptyCache();
}

/**
 * Returns how many threads one operation of this thread may use.
 *
 * @param count sets the number, from 1
 */
export function threads(count?: number): number {
  if (count !== undefined) addon().setThreads(count);
  return addon().getThreads();
}

/** Returns the version and the file of libtorch, whether Gloo is available, and how libtorch uses threads. */
export function libtorch(): NativeVersions {
  return addon().versions();
}
