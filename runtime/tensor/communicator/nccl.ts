/**
 * Finds the NCCL library of a process and decides whether the procs of a mesh use it. Each proc computes the decision from the
 * versions of all procs, so that all decisions are equal.
 */
import type { TensorEnd } from "../../../generated/tensor.js";
import type { NativeNccl, NativeStream } from "../../native/tensor-addon.js";
import { addon } from "../operation/addon.js";

/** The variable with the file of NCCL, or `off`. If it names a file, NCCL is used on every device. */
const libraryVariable = "VICEROY_NCCL";
/** The file that is loaded by default. */
const defaultLibrary = "libnccl.so.2";

/**
 * Returns the version and the file of the NCCL library that this process finds.
 *
 * @throws {Error} when there is none, with the reason
 */
export function nccl(): NativeNccl {
  return addon().findNccl(process.env[libraryVariable] || defaultLibrary);
}

/**
 * Offers the NCCL library to a stream. Returns its version, or 0 if there is none.
 *
 * @throws {Error} when the variable names a library that cannot be loaded
 */
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

/** Returns whether a mesh uses NCCL: all procs must have the same version. */
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
