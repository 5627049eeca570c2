/** Ends the hosts of a run whose command has ended. */
import { errorMessage } from "../../../../shared/text/error-message.js";
import { awayLimit, retrying } from "../../retry.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { commandMesh, meshLabel, runLabel } from "../manifest/layout.js";

/** Returns the names of the Jobs of the hosts of a run. @throws KubernetesError if the pod may not list Jobs, or the API server stays away */
export async function hostJobs(api: Pick<KubernetesApi, "list">, applyId: string): Promise<string[]> {
  const labelSelector = `${runLabel}=${applyId},${meshLabel}!=${commandMesh}`;
  const { items } = await retrying(() => api.list("Job", { labelSelector }), { limit: awayLimit });
  return items.map(({ metadata }) => metadata.name!);
}

/**
 * Deletes the Jobs of the hosts, and with them their pods. A fault is printed: hosts that cannot be ended end by themselves when they have had no
 * driver for long.
 */
export async function endHosts(api: Pick<KubernetesApi, "delete" | "list">, applyId: string): Promise<void> {
  try {
    const names = await hostJobs(api, applyId);
    await Promise.all(names.map((name) => retrying(() => api.delete("Job", name), { limit: awayLimit })));
  } catch (error) {
    process.stderr.write(`viceroy job: cannot end the hosts, which end by themselves: ${errorMessage(error)}\n`);
  }
}

/**
 * Ends hosts that the pod of their command could not end, because it was killed: whoever sees the end of the command does. Drivers may not delete
 * Jobs, but what is suspended has no pods.
 */
export async function suspendHosts(api: Pick<KubernetesApi, "list" | "patch">, applyId: string): Promise<void> {
  const names = await hostJobs(api, applyId);
  await Promise.all(
    names.map((name) => retrying(() => api.patch("Job", name, { spec: { suspend: true } }), { limit: awayLimit })),
  );
}
