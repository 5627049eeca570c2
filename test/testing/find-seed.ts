/** Finds a seed with which a planted bug is noticed. */
import { simulate } from "../../runtime/testing/index.js";
import { cluster, optionsOf } from "./cluster.js";
import { brokenBy, type Invariant } from "./invariants.js";
import type { PlantedBug } from "./planted-bugs.js";

export interface FoundSeed {
  readonly seed: number;
  /** The invariants that the run has violated. */
  readonly broken: readonly Invariant[];
  /** The error of the run. */
  readonly message: string;
}

export interface SeedSearch {
  /** The seed, or undefined if no seed has found the bug. */
  readonly found: FoundSeed | undefined;
  /** Earlier errors of invariants that the bug is not expected to violate. */
  readonly otherwise: readonly FoundSeed[];
}

/**
 * Tries seeds one after another. The bug is planted again for each, because its counters must not depend on earlier
 * runs.
 */
export async function findSeed({ plant, noticedBy }: PlantedBug, from: number, seeds: number): Promise<SeedSearch> {
  const otherwise: FoundSeed[] = [];
  for (let seed = from; seed < from + seeds; seed++) {
    const uproot = plant();
    try {
      await simulate(cluster, optionsOf(seed));
    } catch (error) {
      const { message } = error as Error;
      const found = { seed, broken: brokenBy(message), message };
      if (found.broken.some((name) => noticedBy.includes(name))) return { found, otherwise };
      otherwise.push(found);
    } finally {
      uproot();
    }
  }
  return { found: undefined, otherwise };
}
