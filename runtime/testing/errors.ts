/** What a simulation that went wrong is reported as. */
import type { CausedFault } from "./faults.js";

export class SimulationError extends Error {
  override readonly name = "SimulationError";
  readonly seed: number;
  /** The faults that had been caused by then. */
  readonly faults: readonly CausedFault[];
  /** The last of what happened, if it was recorded. */
  readonly lines: readonly string[];

  constructor(seed: number, why: string, faults: readonly CausedFault[], lines: readonly string[], cause?: unknown) {
    super(`seed ${seed}: ${why}`, cause === undefined ? undefined : { cause });
    this.seed = seed;
    this.faults = faults;
    this.lines = lines;
  }
}
