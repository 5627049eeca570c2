/** Places pods on nodes that have room for them, and preempts pods of a lower priority. */
import { deleteObject } from "../api-server/deletion.js";
import { type Amounts, quantity, requestsOf } from "../api-server/quantity.js";
import { type ApiObject, resourceOf } from "../api-server/resources.js";
import type { Store } from "../api-server/store.js";
import { timestamp } from "../api-server/store.js";
import { addCondition } from "../api-server/subresources.js";
import { report } from "./events.js";

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

interface Toleration extends Partial<Taint> {
  readonly operator?: string;
}

const ended = (pod: ApiObject) => ["Succeeded", "Failed"].includes(pod["status"]?.phase);

/** Places each pod that waits for a node. */
export function schedule(store: Store): void {
  const pods = store.list(resourceOf("pods"));
  const nodes = store.list(resourceOf("nodes"));
  const waiting = pods.filter(
    (pod) => pod["spec"].nodeName === undefined && pod.metadata.deletionTimestamp === undefined && !ended(pod),
  );
  const placed = pods.filter((pod) => pod["spec"].nodeName !== undefined && !ended(pod));
  waiting.sort((a, b) => b["spec"].priority - a["spec"].priority);
  for (const pod of waiting.filter(({ spec }) => (spec.schedulingGates ?? []).length === 0)) {
    // Pods spread over the nodes.
    const load = ({ metadata }: ApiObject) => placed.filter(({ spec }) => spec.nodeName === metadata.name).length;
    nodes.sort((a, b) => load(a) - load(b));
    const reasons = nodes.map((node) => obstacle(node, placed, pod));
    const at = reasons.indexOf(undefined);
    if (at >= 0) placed.push(place(store, pod, nodes[at]!));
    else postpone(store, pod, nodes, placed, reasons as string[]);
  }
}

function place(store: Store, pod: ApiObject, node: ApiObject): ApiObject {
  const bound = store.change(resourceOf("pods"), pod, (object) => {
    object["spec"].nodeName = node.metadata.name;
    addCondition(object, "PodScheduled", "", "");
  })!;
  const { namespace, name } = pod.metadata;
  report(
    store,
    pod,
    "Normal",
    "Scheduled",
    `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`,
    "default-scheduler",
  );
  return bound;
}

/** Returns why a pod cannot run on a node, in the words of the scheduler, or undefined if it can. */
function obstacle(node: ApiObject, placed: readonly ApiObject[], pod: ApiObject): string | undefined {
  const { spec } = pod;
  if (node["spec"]?.unschedulable) return "node(s) were unschedulable";
  const conditions = (node["status"]?.conditions ?? []) as { type: string; status: string }[];
  if (!conditions.some(({ type, status }) => type === "Ready" && status === "True")) {
    return "node(s) had untolerated taint {node.kubernetes.io/not-ready: }";
  }
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries((spec.nodeSelector ?? {}) as Record<string, string>);
  if (selected.some(([key, value]) => labels[key] !== value))
    return "node(s) didn't match Pod's node affinity/selector";
  const taint = ((node["spec"]?.taints ?? []) as Taint[]).find(
    (one) => one.effect !== "PreferNoSchedule" && !tolerates(spec.tolerations ?? [], one),
  );
  if (taint !== undefined) return `node(s) had untolerated taint(s)`;
  return shortage(node, placed, pod);
}

function tolerates(tolerations: readonly Toleration[], { key, value = "", effect }: Taint): boolean {
  return tolerations.some(
    (one) =>
      (one.key ?? key) === key &&
      (one.operator === "Exists" || one.key === undefined || (one.value ?? "") === value) &&
      (one.effect ?? effect) === effect,
  );
}

/** Returns which resource a node lacks for a pod beside those that are placed on it. */
function shortage(node: ApiObject, placed: readonly ApiObject[], pod: ApiObject): string | undefined {
  const there = placed.filter(({ spec }) => spec.nodeName === node.metadata.name);
  const used: Amounts = { pods: there.length };
  for (const { spec } of there) {
    for (const [name, amount] of Object.entries(requestsOf(spec as never))) used[name] = (used[name] ?? 0) + amount;
  }
  const wanted: Amounts = { ...requestsOf(pod["spec"]), pods: 1 };
  const free = (name: string) => quantity(node["status"].allocatable?.[name] ?? "0") - (used[name] ?? 0);
  const lacking = Object.entries(wanted).find(([name, amount]) => amount > free(name));
  if (lacking === undefined) return undefined;
  return lacking[0] === "pods" ? "Too many pods" : `Insufficient ${lacking[0]}`;
}

function postpone(
  store: Store,
  pod: ApiObject,
  nodes: readonly ApiObject[],
  placed: ApiObject[],
  reasons: readonly string[],
): void {
  const priority = pod["spec"].priority as number;
  for (const [i, node] of nodes.entries()) {
    if (!/^(Insufficient|Too many)/.test(reasons[i]!)) continue;
    const lower = placed.filter(({ spec }) => spec.nodeName === node.metadata.name && spec.priority < priority);
    const without = placed.filter((other) => !lower.includes(other));
    if (lower.length === 0 || obstacle(node, without, pod) !== undefined) continue;
    for (const victim of lower) preempt(store, victim, pod);
    return;
  }
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const list = [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(", ");
  const none = "no nodes available to schedule pods";
  const fits = `preemption: 0/${nodes.length} nodes are available: ${nodes.length} Preemption is not helpful for scheduling.`;
  const message = nodes.length === 0 ? none : `0/${nodes.length} nodes are available: ${list}. ${fits}`;
  const known = ((pod["status"].conditions ?? []) as { type: string; message?: string }[]).find(
    ({ type }) => type === "PodScheduled",
  );
  if (known?.message === message) return;
  store.change(resourceOf("pods"), pod, (object) => {
    const others = (object["status"].conditions ?? []).filter(({ type }: { type: string }) => type !== "PodScheduled");
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message,
      lastTransitionTime: timestamp(),
    };
    object["status"].conditions = [...others, condition];
  });
  report(store, pod, "Warning", "FailedScheduling", message, "default-scheduler");
}

function preempt(store: Store, victim: ApiObject, { metadata }: ApiObject): void {
  if (victim.metadata.deletionTimestamp !== undefined) return;
  const message = "default-scheduler: preempting to accommodate a higher priority pod";
  const marked = store.change(resourceOf("pods"), victim, (object) =>
    addCondition(object, "DisruptionTarget", "PreemptionByScheduler", message),
  );
  if (marked === undefined) return;
  report(
    store,
    marked,
    "Normal",
    "Preempted",
    `Preempted by pod ${metadata.uid} on node ${marked["spec"].nodeName}`,
    "default-scheduler",
  );
  deleteObject(store, resourceOf("pods"), marked, {});
}
