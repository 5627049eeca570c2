/** What holds for tensors of the whole process: memory, threads, random numbers. */
import type { NativeStats, NativeVersions } from "../native/tensor-addon.js";
import { addon } from "./addon.js";

/** Memory of tensors, in bytes. */
export type TensorMemory = NativeStats;

/** What tensors of this process take, exactly. */
export function tensorMemory(): TensorMemory {
  return addon().stats();
}

/** Gives memory that is kept for the next tensors back to the system. */
export function emptyCache(): void {
  addon().emptyCache();
}

/** How many threads one operation of this thread may use; sets it if it is given. */
export function threads(count?: number): number {
  if (count !== undefined) addon().setThreads(count);
  return addon().getThreads();
}

/** The version of libtorch, its file, whether Gloo is there, and what it says of its threads. */
export function libtorch(): NativeVersions {
  return addon().versions();
}
