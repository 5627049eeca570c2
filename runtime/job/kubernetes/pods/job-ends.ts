/** Waits for the end of the Indexed Jobs of a run. */
import type { ApiObject, KubernetesApi } from "../api/kubernetes-api.js";
import { commandMesh, meshLabel } from "../manifest/layout.js";
import { observe } from "./observe.js";
import type { PodCondition } from "./pod-object.js";

interface JobObject extends ApiObject {
  readonly status?: { readonly conditions?: readonly PodCondition[] };
}

/**
 * Resolves with the reason when one of some Jobs of a run has ended or was deleted.
 * @param names the names of the Jobs with whose end the run ends
 * @param see told of each Job of the run that has not ended
 */
export async function jobsEnd(
  api: KubernetesApi,
  labelSelector: string,
  names: readonly string[],
  signal: AbortSignal,
  see: (job: ApiObject) => void = () => {},
): Promise<string> {
  for await (const seen of observe(api, "Job", { labelSelector }, signal)) {
    if (seen.kind === "away") continue;
    const objects = seen.kind === "listed" ? seen.items : [seen.object];
    for (const object of objects) {
      const reason = seen.kind === "removed" ? goneReason(object.metadata.name!) : endOf(object);
      if (reason === undefined) see(object);
      else if (names.includes(object.metadata.name!)) return reason;
    }
    if (seen.kind !== "listed") continue;
    const found = new Set(objects.map(({ metadata }) => metadata.name));
    const missing = names.find((name) => !found.has(name));
    if (missing !== undefined) return goneReason(missing);
  }
  throw signal.reason;
}

function goneReason(name: string): string {
  return `Job ${name} of Kubernetes was deleted`;
}

/** Returns why a Job has ended; undefined if it has not. */
export function endOf(job: JobObject): string | undefined {
  const { name, deletionTimestamp } = job.metadata;
  if (deletionTimestamp !== undefined) return goneReason(name!);
  const conditions = (job.status?.conditions ?? []).filter(({ status }) => status === "True");
  const failure = conditions.find(({ type }) => type === "Failed" || type === "FailureTarget");
  if (failure !== undefined) {
    const { reason = "", message = "" } = failure;
    return `Job ${name} of Kubernetes has failed${reason === "" ? "" : ` (${reason})`}${message === "" ? "" : `: ${message}`}`;
  }
  const isDone = conditions.some(({ type }) => type === "Complete" || type === "SuccessCriteriaMet");
  if (isDone && job.metadata.labels?.[meshLabel] === commandMesh)
    return `the command of Job ${name} of Kubernetes has ended`;
  return isDone
    ? `all hosts of Job ${name} of Kubernetes have ended by themselves: they had no driver for their idle time`
    : undefined;
}
