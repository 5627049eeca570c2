/**
 * NCCL, as a process has it: which file it is, and whether elements of its tensors move by it. What they agree on follows from what all of them
 * have told, so that each comes to the same.
 */
import type { TensorEnd } from "../../../generated/tensor.js";
import type { NativeNccl, NativeStream } from "../../native/tensor-addon.js";
import { addon } from "../operation/addon.js";

/** The file of NCCL; `off`: it is not used. Whoever names one wants it, whatever its tensors are on. */
const libraryVariable = "VICEROY_NCCL";
/** What the loader looks for where none is named. */
const defaultLibrary = "libnccl.so.2";

/**
 * Returns the version and the file of the NCCL library that this process finds.
 *
 * @throws {Error} when there is none, with the reason
 */
export function nccl(): NativeNccl {
  return addon().findNccl(process.env[libraryVariable] || defaultLibrary);
}

/** The version that a stream can move elements by; 0: none. @throws Error if it is named, and there is none */
export function offerOwnNccl(stream: NativeStream, device: string): number {
  const named = process.env[libraryVariable] || undefined;
  if (named === "off" || (named === undefined && device === "cpu")) return 0;
  try {
    return addon().offerNccl(stream, named ?? defaultLibrary);
  } catch (error) {
    if (named !== undefined) throw error;
    warnWithoutNccl((error as Error).message);
    return 0;
  }
}

/** Whether elements move by it in a mesh: all must have one version. */
export function haveSameNccl(ends: readonly TensorEnd[], rank: number): boolean {
  const own = ends[rank]?.nccl;
  if (own === undefined) return false;
  const other = ends.findIndex((end) => end.nccl !== own);
  if (other < 0) return true;
  const theirs = ends[other]?.nccl ?? "none";
  warnWithoutNccl(`rank ${rank} has NCCL ${own}, rank ${other} ${theirs}: all processes of a mesh must have the same`);
  return false;
}

function warnWithoutNccl(why: string): void {
  process.emitWarning(`tensors are exchanged by memory of processors, which is slow for those on CUDA: ${why}`, {
    type: "ViceroyWarning",
    code: "VICEROY_TENSOR_NCCL",
  });
}
