/** The end of a run of a job, for those that wait for something of the run. */
import type { JobRun } from "./job-run.js";

/**
 * Waits for something that a run gives. If the run has ended meanwhile, which aborts the wait, rejects with the reason for
 * its end, and not with that of the abortion.
 */
export async function unlessRunEnds<T>(run: Pick<JobRun, "endReason">, wait: Promise<T>): Promise<T> {
  try {
    return await wait;
  } catch (error) {
    throw run.endReason === undefined ? error : new Error(run.endReason, { cause: error });
  }
}
