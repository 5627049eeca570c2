/** Removes the folders of runs that have ended long ago, with their logs. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { providerOf } from "../providers.js";
import { recordedRunsAfter } from "./recorded-runs.js";

/** The number of runs whose folders are kept, the newest ones. */
const runsKept = 20;

/**
 * Removes the folders of older runs of which nothing is left. A run about which its provider says nothing is kept.
 * @param folder contains the folders of the runs
 */
export async function removeOldRuns(folder: string): Promise<void> {
  for (const record of recordedRunsAfter(folder, runsKept)) {
    const own = join(folder, record.applyId);
    try {
      if (record.folder !== own || (await providerOf(record, own).isAlive(record.allocation))) continue;
      await rm(own, { recursive: true, force: true });
    } catch {
      // The next run tries it again.
    }
  }
}
