/** Waits for the end of pods whose ranks are to get others. */
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import { trackingFinalizer } from "../manifest/layout.js";
import type { PodFeed } from "../pods/pod-feed.js";

/**
 * Resolves when all earlier pods at some places have ended, and the Job controller has counted their ends. Later it would take their ends for those of
 * the next pods.
 * @returns their ids. Kubernetes keeps the pods for their logs, next to the next ones.
 * @throws Error that names a pod if `signal` is aborted before
 */
export async function untilEnded(
  feed: PodFeed,
  places: readonly HostPlace[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const keys = new Set(places.map(formatPlace));
  let left = "";
  try {
    return await feed.until((state) => {
      const earlier = [...state.values()].filter(({ place }) => keys.has(formatPlace(place)));
      const pod = earlier.find(({ isOver, finalizers }) => !isOver || finalizers.includes(trackingFinalizer));
      left = pod === undefined ? "" : `pod ${pod.name}, which ${formatPlace(pod.place)} had before, has not ended yet`;
      return pod === undefined ? earlier.map(({ uid }) => uid) : undefined;
    }, signal);
  } catch (cause) {
    throw left === "" ? cause : new Error(left, { cause });
  }
}
