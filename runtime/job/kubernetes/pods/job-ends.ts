/** Waits for the end of the Indexed Jobs of a run, and tells what keeps them from making pods, such as a quota. */
import type { Report } from "../../provider.js";
import type { ApiObject, KubernetesApi } from "../api/kubernetes-api.js";
import { KubernetesError } from "../api/kubernetes-error.js";
import { commandMesh, meshLabel } from "../manifest/layout.js";
import { observe } from "./observe.js";
import type { EventObject, PodCondition } from "./pod-object.js";

interface JobObject extends ApiObject {
  readonly status?: { readonly conditions?: readonly PodCondition[] };
}

/**
 * Resolves with the reason when one of some Jobs of a run has ended or was deleted.
 * @param names the names of the Jobs with whose end the run ends
 */
export async function jobsEnd(
  api: KubernetesApi,
  labelSelector: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  for await (const seen of observe(api, "Job", { labelSelector }, signal)) {
    if (seen.kind === "away") continue;
    const objects = seen.kind === "listed" ? seen.items : [seen.object];
    for (const object of objects.filter(({ metadata }) => names.includes(metadata.name!))) {
      const reason = seen.kind === "removed" ? goneReason(object.metadata.name!) : endOf(object);
      if (reason !== undefined) return reason;
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

/**
 * Reports why the Jobs of a run cannot make pods: a quota, a policy of the cluster, a service account that is missing. Resolves when
 * `signal` is aborted, also if this program may not read events.
 */
export async function reportJobEvents(
  api: KubernetesApi,
  names: readonly string[],
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const told = new Set<string>();
  try {
    const selection = { fieldSelector: "involvedObject.kind=Job,type=Warning" };
    for await (const seen of observe(api, "Event", selection, signal)) {
      const events = seen.kind === "listed" ? seen.items : seen.kind === "changed" ? [seen.object] : [];
      for (const { metadata, reason = "", message = "", involvedObject } of events as readonly EventObject[]) {
        const job = involvedObject?.name ?? "";
        if (!names.includes(job) || reason !== "FailedCreate" || told.has(metadata.uid ?? message)) continue;
        told.add(metadata.uid ?? message);
        report({ kind: "pending", reason: `Job ${job} cannot make a pod: ${message}` });
      }
    }
  } catch (error) {
    // The words are a help, and nothing depends on them.
    if (!(error instanceof KubernetesError) || error.status !== 403) throw error;
  }
}
