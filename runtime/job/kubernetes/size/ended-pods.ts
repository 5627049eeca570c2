/** Waits for the end of pods whose ranks are to get others. */
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import { trackingFinalizer } from "../manifest/layout.js";
import type { PodFeed } from "../pods/pod-feed.js";

/**
 * Resolves when all earlier pods at some places have ended, and the Job controller has counted their ends. Later it would take their ends for those of
 * the next pods.
 * @throws Error that names a pod if `signal` is aborted before
 */
export async function untilEnded(feed: PodFeed, places: readonly HostPlace[], signal: AbortSignal): Promise<void> {
  const keys = new Set(places.map(formatPlace));
  let left = "";
  try {
    await feed.until((state) => {
      const pod = [...state.values()].find(({ place, isOver, finalizers }) => {
        return keys.has(formatPlace(place)) && !(isOver && !finalizers.includes(trackingFinalizer));
      });
      left = pod === undefined ? "" : `pod ${pod.name}, which ${formatPlace(pod.place)} had before, has not ended yet`;
      return pod === undefined ? true : undefined;
    }, signal);
  } catch (cause) {
    throw left === "" ? cause : new Error(left, { cause });
  }
}
