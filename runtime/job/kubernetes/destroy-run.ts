/** Deletes a run with all that it has made, and waits until its pods are gone. */
import { holding } from "../batch/batch-run.js";
import { awayLimit, retrying } from "../retry.js";
import type { KubernetesApi } from "./api/kubernetes-api.js";
import type { KubernetesSpec } from "./kubernetes-spec.js";
import { endGraceSeconds } from "./manifest/layout.js";
import { PodFeed } from "./pods/pod-feed.js";
import { podSources, runSelector } from "./pods/pod-sources.js";

/** Time in ms for the objects and pods of a job to be gone after it was deleted. */
const destroyLimit = 120_000;

/** Number of pods that are deleted at the same time. */
const parallelDeletes = 16;

/**
 * @param owner the id of the ConfigMap that owns everything
 * @throws KubernetesError, Error if the API server refuses, or pods are still there after {@link destroyLimit}
 */
export async function destroyRun(
  api: KubernetesApi,
  spec: KubernetesSpec,
  applyId: string,
  owner: string,
): Promise<void> {
  await retrying(() => api.delete("ConfigMap", spec.name, { uid: owner }), { limit: awayLimit });
  const labelSelector = runSelector(spec.name, applyId);
  const signal = AbortSignal.timeout(destroyLimit);
  try {
    // A Job that is not gone yet makes other pods.
    for (;;) {
      const { items } = await retrying(() => api.list("Job", { labelSelector }), { limit: awayLimit, signal });
      if (items.every(({ metadata }) => metadata.deletionTimestamp !== undefined)) break;
      await new Promise((resolve) => setTimeout(resolve, 200));
      signal.throwIfAborted();
    }
    const { items: pods } = await retrying(() => api.list("Pod", { labelSelector }), { limit: awayLimit, signal });
    const left = pods.map(({ metadata }) => metadata);
    const deleteNext = async (): Promise<void> => {
      for (let pod = left.pop(); pod !== undefined; pod = left.pop()) {
        const { name, uid } = pod;
        const end = () => api.delete("Pod", name!, { uid: uid!, gracePeriodSeconds: endGraceSeconds });
        await retrying(end, { limit: awayLimit, signal });
      }
    };
    await Promise.all(Array.from({ length: parallelDeletes }, deleteNext));
    const feed = new PodFeed(async () => api, podSources(spec, applyId).slice(0, 1));
    await holding(feed.until((state) => (state.size === 0 ? true : undefined), signal));
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const { items } = await retrying(() => api.list("Pod", { labelSelector }), { limit: awayLimit });
    const names = items.map(({ metadata }) => metadata.name).slice(0, 5);
    const text = `pods of the job are still there after ${destroyLimit} ms: ${names.join(", ")}; look with kubectl describe pod`;
    throw new Error(text, { cause });
  }
}
