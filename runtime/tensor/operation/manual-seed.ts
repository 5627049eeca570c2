/** Sets the seed of random numbers, in this process or on a mesh. */
import { addon } from "./addon.js";
import { currentRecording } from "./recording.js";

/**
 * Sets the seed of random numbers: of the active mesh, or of this process. The same seed gives the same numbers with
 * the same version of libtorch.
 *
 * @param seed an integer from 0 to 2^53 - 1
 * @param options with `perRank`, each proc gets numbers of its own; default false, the same numbers on all procs
 * @throws {RangeError} when the seed is out of range
 */
export function manualSeed(seed: number, { perRank = false }: { readonly perRank?: boolean } = {}): void {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RangeError(`cannot seed with ${seed}: expected an integer from 0 on`);
  const recording = currentRecording();
  if (recording === undefined) addon().seed(seed);
  else recording.seed(seed, perRank);
}
