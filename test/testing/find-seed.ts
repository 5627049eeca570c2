/** Finds a seed with which a planted bug is noticed. */
import { simulate } from "../../runtime/testing/index.js";
import { brokenBy, type PlantedBug, type Workload } from "./workload.js";

export interface FoundSeed<I extends string> {
  readonly seed: number;
  /** The invariants that the run has violated. */
  readonly broken: readonly I[];
  /** The error of the run. */
  readonly message: string;
}

export interface SeedSearch<I extends string> {
  /** The seed, or undefined if no seed has found the bug. */
  readonly found: FoundSeed<I> | undefined;
  /** Earlier errors of invariants that the bug is not expected to violate. */
  readonly otherwise: readonly FoundSeed<I>[];
}

/**
 * Tries seeds one after another. The bug is planted again for each, because its counters must not depend on earlier
 * runs.
 */
export async function findSeed<I extends string>(
  workload: Workload<I>,
  { plant, noticedBy }: PlantedBug<I>,
  from: number,
  seeds: number,
): Promise<SeedSearch<I>> {
  const otherwise: FoundSeed<I>[] = [];
  for (let seed = from; seed < from + seeds; seed++) {
    const uproot = plant();
    try {
      await simulate(workload.scenario, workload.optionsOf(seed));
    } catch (error) {
      const { message } = error as Error;
      const found = { seed, broken: brokenBy(workload, message), message };
      if (found.broken.some((name) => noticedBy.includes(name))) return { found, otherwise };
      otherwise.push(found);
    } finally {
      uproot();
    }
  }
  return { found: undefined, otherwise };
}
