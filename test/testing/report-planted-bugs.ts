/**
 * `npm run sim -- --planted`: prints, for each planted bug, the first seed that finds it and the violated invariant.
 */

import { findSeed } from "./find-seed.js";
import type { Workload } from "./workload.js";

export interface PlantedOptions {
  readonly from: number;
  readonly seeds: number;
  /** A part of the names of the bugs to search for. */
  readonly only: string | undefined;
  /** The index of this worker and the number of workers. */
  readonly share: readonly [worker: number, of: number];
  readonly print: (text: string) => void;
}

/** @returns whether all bugs were found */
export async function findPlanted<I extends string>(
  workload: Workload<I>,
  { from, seeds, only = "", share, print }: PlantedOptions,
): Promise<boolean> {
  const [worker, of] = share;
  const chosen = workload.bugs.filter(({ name }) => name.includes(only)).filter((_, i) => i % of === worker);
  let all = true;
  for (const bug of chosen) {
    const { found, otherwise } = await findSeed(workload, bug, from, seeds);
    const { name, replaces, noticedBy } = bug;
    if (found !== undefined) {
      print(`${name} (${replaces}): seed ${found.seed}: ${found.broken.join(", ")}`);
      continue;
    }
    all = false;
    const other =
      otherwise[0] === undefined
        ? ""
        : `; something else went wrong ${otherwise.length} times: ${otherwise[0].message}`;
    print(
      `${name} (${replaces}): NOT FOUND by seeds ${from} to ${from + seeds - 1}, expected: ${noticedBy.join(", ")}${other}`,
    );
  }
  return all;
}
