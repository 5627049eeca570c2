/** The seed of random numbers, here or on a mesh. */
import { addon } from "./addon.js";
import { currentRecording } from "./recording.js";

/**
 * Random numbers from here on: of the mesh whose code is running, the same on all its processes, or with `perRank` different ones on each;
 * otherwise of this process. The same seed gives the same numbers with the same version of libtorch.
 */
export function manualSeed(seed: number, { perRank = false }: { readonly perRank?: boolean } = {}): void {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RangeError(`cannot seed with ${seed}: expected an integer from 0 on`);
  const recording = currentRecording();
  if (recording === undefined) addon().seed(seed);
  else recording.seed(seed, perRank);
}
