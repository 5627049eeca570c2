/** Gives back the hosts of a mesh that it has got later. */
import { holding } from "../../batch/batch-run.js";
import type { PodFeed } from "../pods/pod-feed.js";
import type { PodState } from "../pods/pod-state.js";
import type { JobScaler } from "./job-scaler.js";

/** Time in ms for the Job controller to notice that a Job has got smaller. */
const noticeLimit = 60_000;

/**
 * Makes a mesh smaller, and resolves when its other pods have been told to end. Their daemons give programs that use them their grace period.
 * @throws Error if the Job controller does not end the pods
 */
export async function shrinkMesh(scaler: JobScaler, feed: PodFeed, mesh: string, hosts: number): Promise<void> {
  await scaler.shrink(hosts);
  const beyond = (state: PodState) =>
    [...state.values()].filter(({ place, isEnding, isOver }) => {
      return place.mesh === mesh && place.rank >= hosts && !isEnding && !isOver;
    });
  let left: readonly string[] = [];
  const signal = AbortSignal.timeout(noticeLimit);
  const look = (state: PodState) => {
    left = beyond(state).map(({ name }) => name);
    return left.length === 0 ? true : undefined;
  };
  try {
    await holding(feed.until(look, signal));
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const names = left.slice(0, 5).join(", ");
    throw new Error(
      `the Job of mesh "${mesh}" has ${hosts} hosts now, and its other pods still run after ${noticeLimit} ms: ${names}; look with kubectl describe job`,
      { cause },
    );
  }
}
