/** The error that reports a failed simulation. */
import type { CausedFault } from "./fault.js";

/** Rejects a simulation in which a promise of Viceroy or of the scenario was broken. */
export class SimulationError extends Error {
  override readonly name = "SimulationError";
  /** The seed of the run. */
  readonly seed: number;
  /** The faults that had happened by then. */
  readonly faults: readonly CausedFault[];
  /** The last events of the run; empty unless the run was recorded. */
  readonly lines: readonly string[];

  /**
   * Makes an error.
   *
   * @param seed the seed of the run
   * @param why what went wrong
   * @param faults the faults that had happened by then
   * @param lines the last events of the run
   */
  constructor(seed: number, why: string, faults: readonly CausedFault[], lines: readonly string[], cause?: unknown) {
    super(`seed ${seed}: ${why}`, cause === undefined ? undefined : { cause });
    this.seed = seed;
    this.faults = faults;
    this.lines = lines;
  }
}
