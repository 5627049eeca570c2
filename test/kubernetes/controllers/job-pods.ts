/** The pods of a job: how a pod is made for an index, and what one that has ended means for the job. */
import { randomBytes } from "node:crypto";
import { admitNew } from "../api-server/admission.js";
import { type ApiObject, type Json, resourceOf } from "../api-server/resources.js";
import type { Store } from "../api-server/store.js";

export const tracking = "batch.kubernetes.io/job-tracking";
const indexKey = "batch.kubernetes.io/job-completion-index";

/** Returns the completion index of a pod; 0 for a job without indexes. */
export function indexOf({ metadata }: ApiObject): number {
  return Number(metadata.annotations?.[indexKey] ?? 0);
}

export function isControlledBy({ metadata }: ApiObject, job: ApiObject): boolean {
  return (
    metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === job.metadata.uid) ?? false
  );
}

/** Creates a pod. @throws StatusError if the API server refuses it */
export function createPod(store: Store, job: ApiObject, index: number): ApiObject {
  const { name, namespace, uid } = job.metadata;
  const { template, completionMode } = job["spec"];
  const indexed = completionMode === "Indexed";
  const labels = {
    ...template.metadata?.labels,
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
    ...(indexed ? { [indexKey]: String(index) } : {}),
  };
  const annotations = { ...template.metadata?.annotations, ...(indexed ? { [indexKey]: String(index) } : {}) };
  const owner = { apiVersion: "batch/v1", kind: "Job", name, uid, controller: true, blockOwnerDeletion: true };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${indexed ? `${index}-` : ""}${randomBytes(3).toString("hex").slice(0, 5)}`,
      namespace,
      labels,
      annotations,
      finalizers: [tracking],
      ownerReferences: [owner],
    },
    spec: structuredClone(template.spec),
  } as unknown as ApiObject;
  if (indexed) completeIndexed(pod, name, index);
  admitNew(store, resourceOf("pods"), pod);
  return store.create(resourceOf("pods"), pod);
}

function completeIndexed(pod: ApiObject, name: string, index: number): void {
  pod["spec"].hostname ??= `${name}-${index}`;
  const value = { fieldRef: { apiVersion: "v1", fieldPath: `metadata.labels['${indexKey}']` } };
  for (const container of [...(pod["spec"].initContainers ?? []), ...pod["spec"].containers]) {
    container.env = [...(container.env ?? []), { name: "JOB_COMPLETION_INDEX", valueFrom: value } as Json];
  }
}

interface Rule {
  readonly action: "Ignore" | "Count" | "FailJob" | "FailIndex";
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
  readonly onExitCodes?: {
    readonly operator: "In" | "NotIn";
    readonly values: readonly number[];
    readonly containerName?: string;
  };
}

interface ContainerStatus {
  readonly name: string;
  readonly state?: { readonly terminated?: { readonly exitCode: number } };
}

/** Returns what a failed pod means by the job's policy of pod failures; without one, each failure counts. */
export function failureAction(job: ApiObject, pod: ApiObject): Rule["action"] {
  const rules = (job["spec"].podFailurePolicy?.rules ?? []) as Rule[];
  const conditions = (pod["status"].conditions ?? []) as { type: string; status: string }[];
  const { containerStatuses = [], initContainerStatuses = [] } = pod["status"];
  const containers = [...initContainerStatuses, ...containerStatuses] as ContainerStatus[];
  const matching = rules.find(({ onPodConditions, onExitCodes }) => {
    if (
      onPodConditions?.some(({ type, status = "True" }) =>
        conditions.some((is) => is.type === type && is.status === status),
      )
    )
      return true;
    return containers.some(({ name, state }) => {
      const code = state?.terminated?.exitCode;
      if (onExitCodes === undefined || code === undefined || code === 0) return false;
      if (onExitCodes.containerName !== undefined && onExitCodes.containerName !== name) return false;
      return onExitCodes.values.includes(code) === (onExitCodes.operator === "In");
    });
  });
  return matching?.action ?? "Count";
}
