/** Ends the pod of a host that the driver has lost, and that goes on: what it runs belongs to nobody. */
import { errorMessage } from "../../../../shared/text/error-message.js";
import { formatPlace } from "../../mesh-spec.js";
import type { ReadyHost } from "../../provider.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { endGraceSeconds } from "../manifest/layout.js";
import type { PodFeed } from "./pod-feed.js";
import { currentPods, type PodState } from "./pod-state.js";

export interface LostHostOptions {
  readonly signal: AbortSignal;
  /** Is told why the pod cannot be ended. */
  readonly tell: (reason: string) => void;
}

/** Ends the pod at the place of a host, if it is still the one that was lost, and Ready. */
export async function endLostHost(
  api: KubernetesApi,
  feed: PodFeed,
  lost: ReadyHost,
  { signal, tell }: LostHostOptions,
): Promise<void> {
  const find = (state: PodState) => currentPods(state).get(formatPlace(lost)) ?? null;
  const pod = await feed.until(find, signal).catch(() => null);
  if (!pod?.isReady || pod.startedAt > (lost.incarnation ?? 0)) return;
  await api.delete("Pod", pod.name, { uid: pod.uid, gracePeriodSeconds: endGraceSeconds }).catch((error: unknown) => {
    tell(`cannot end pod ${pod.name}, whose host ${formatPlace(lost)} this program has lost: ${errorMessage(error)}`);
  });
}
