/** Looks for the seed that finds a planted bug. */
import { simulate } from "../../runtime/testing/index.js";
import { cluster, optionsOf } from "./cluster.js";
import { brokenBy, type Invariant } from "./invariants.js";
import type { PlantedBug } from "./planted-bugs.js";

export interface FoundSeed {
  readonly seed: number;
  /** What the run has broken. */
  readonly broken: readonly Invariant[];
  /** What went wrong. */
  readonly message: string;
}

export interface SeedSearch {
  /** Undefined: no seed has found it. */
  readonly found: FoundSeed | undefined;
  /** What else went wrong before, that the bug is not expected to be noticed for. */
  readonly otherwise: readonly FoundSeed[];
}

/** Tries one seed after the other, the bug planted anew for each: how often it was made before is no part of a seed. */
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
