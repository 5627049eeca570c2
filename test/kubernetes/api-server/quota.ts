/** Quotas of a namespace: how many pods, and how much of each resource they request together. */
import { quantity, requestsOf } from "./quantity.js";
import { type ApiObject, resourceOf } from "./resources.js";
import { StatusError } from "./status-error.js";
import type { Store } from "./store.js";

/** @throws StatusError with the code 403 if a new pod exceeds a quota of its namespace */
export function checkQuota(store: Store, pod: ApiObject): void {
  const { name, namespace } = pod.metadata;
  const pods = store
    .list(resourceOf("pods"), namespace)
    .filter(({ status }) => !["Succeeded", "Failed"].includes(status?.phase));
  for (const quota of store.list(resourceOf("resourcequotas"), namespace)) {
    for (const [what, hard] of Object.entries((quota["spec"]?.hard ?? {}) as Record<string, string>)) {
      const amount = (counted: ApiObject) => amountOf(counted, what);
      const used = pods.reduce((sum, counted) => sum + amount(counted), 0);
      if (used + amount(pod) <= quantity(hard)) continue;
      const why = `exceeded quota: ${quota.metadata.name}, requested: ${what}=${amount(pod)}, used: ${what}=${used}, limited: ${what}=${hard}`;
      throw new StatusError(403, "Forbidden", `pods "${name}" is forbidden: ${why}`, { name, kind: "pods" });
    }
  }
}

function amountOf(pod: ApiObject, what: string): number {
  if (what === "pods" || what === "count/pods") return 1;
  return requestsOf(pod["spec"])[what.replace(/^requests\./, "")] ?? 0;
}
