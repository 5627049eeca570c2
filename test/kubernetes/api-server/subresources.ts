/** Subresources that do more than write a part of an object: evictions, bindings, tokens, and the logs of pods. */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { User } from "./authorization.js";
import { serviceAccountUser } from "./authorization.js";
import { type DeleteOptions, deleteObject } from "./deletion.js";
import type { Answer } from "./objects.js";
import type { ApiRequest } from "./request.js";
import { type ApiObject, resourceOf } from "./resources.js";
import { selector } from "./selectors.js";
import { badRequest, StatusError } from "./status-error.js";
import { type Store, timestamp } from "./store.js";

/** Deletes a pod unless a disruption budget forbids it. */
export function evict(store: Store, { namespace, name }: ApiRequest, body: unknown): Answer {
  const pods = resourceOf("pods");
  const pod = store.get(pods, namespace, name!);
  const { deleteOptions } = body as { deleteOptions?: DeleteOptions };
  const forbidding = store.list(resourceOf("poddisruptionbudgets"), namespace).find(({ spec }) => {
    const labels = Object.entries((spec.selector?.matchLabels ?? {}) as Record<string, string>);
    const covered = selector(labels.map(([key, value]) => `${key}=${value}`).join(","), null);
    if (!covered(pod)) return false;
    const healthy = store.list(pods, namespace).filter((other) => covered(other) && isReady(other)).length;
    return [0, "0", "0%"].includes(spec.maxUnavailable) || healthy - 1 < (spec.minAvailable ?? 0);
  });
  if (forbidding !== undefined) {
    const why = "Cannot evict pod as it would violate the pod's disruption budget.";
    throw new StatusError(429, "TooManyRequests", why, {
      causes: [
        { reason: "DisruptionBudget", message: `The disruption budget ${forbidding.metadata.name} needs more pods` },
      ],
    });
  }
  const message = "Eviction API: evicting";
  const marked = store.change(pods, pod, (object) =>
    addCondition(object, "DisruptionTarget", "EvictionByEvictionAPI", message),
  );
  deleteObject(store, pods, marked ?? pod, deleteOptions ?? {});
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

function isReady({ metadata, status }: ApiObject): boolean {
  const conditions = (status?.conditions ?? []) as { type: string; status: string }[];
  const ready = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  return ready && metadata.deletionTimestamp === undefined;
}

/** Adds a condition with the status True to a pod. */
export function addCondition(object: ApiObject, type: string, reason: string, message: string): void {
  const others = ((object["status"]?.conditions ?? []) as { type: string }[]).filter(
    (condition) => condition.type !== type,
  );
  const condition = { type, status: "True", reason, message, lastTransitionTime: timestamp() };
  object["status"] = { ...object["status"], conditions: [...others, condition] };
}

/** Binds a pod to a node, as a scheduler does. */
export function bind(store: Store, { namespace, name }: ApiRequest, body: unknown): Answer {
  const pod = store.get(resourceOf("pods"), namespace, name!);
  pod["spec"].nodeName = (body as { target: { name: string } }).target.name;
  addCondition(pod, "PodScheduled", "", "");
  store.update(resourceOf("pods"), pod);
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

/** Issues a token for a service account. */
export function issueToken(
  store: Store,
  { namespace, name }: ApiRequest,
  body: unknown,
  tokens: Map<string, User>,
): Answer {
  const { metadata } = store.get(resourceOf("serviceaccounts"), namespace, name!);
  const { spec } = body as {
    spec: {
      expirationSeconds?: number;
      audiences?: readonly string[];
      boundObjectRef?: { kind?: string; name?: string; uid?: string };
    };
  };
  const { audiences = [], boundObjectRef } = spec;
  const pod =
    boundObjectRef?.kind === "Pod" ? store.get(resourceOf("pods"), namespace, boundObjectRef.name!) : undefined;
  const token = randomBytes(24).toString("base64url");
  const lifetime = (spec.expirationSeconds ?? 3600) * 1000;
  tokens.set(token, {
    ...serviceAccountUser(namespace!, name!),
    account: { namespace: namespace!, name: name!, uid: metadata.uid! },
    ...(audiences.length === 0 ? {} : { audiences }),
    ...(pod === undefined ? {} : { pod: { name: pod.metadata.name, uid: pod.metadata.uid } }),
  });
  setTimeout(() => tokens.delete(token), lifetime).unref();
  const status = { token, expirationTimestamp: timestamp(new Date(Date.now() + lifetime)) };
  return { code: 201, body: { ...(body as object), status } };
}

/** Forwards the log of a container from the kubelet of its node. */
export function forwardLog(store: Store, { namespace, name, query }: ApiRequest, response: ServerResponse): void {
  const pod = store.get(resourceOf("pods"), namespace, name!);
  const containers = [...(pod["spec"].initContainers ?? []), ...pod["spec"].containers] as { name: string }[];
  const names = containers.map((container) => container.name);
  const wanted = query.get("container") ?? (names.length === 1 ? names[0] : undefined);
  if (wanted === undefined) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`);
  }
  if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  const node = store.find(resourceOf("nodes"), undefined, pod["spec"].nodeName ?? "");
  const statuses = [...(pod["status"].initContainerStatuses ?? []), ...(pod["status"].containerStatuses ?? [])];
  const status = statuses.find((candidate) => candidate.name === wanted);
  const waiting = status?.state?.waiting?.reason ?? "ContainerCreating";
  if (node === undefined || status === undefined || (status.state.waiting !== undefined && status.restartCount === 0)) {
    throw badRequest(`container "${wanted}" in pod "${name}" is waiting to start: ${waiting}`);
  }
  const host = (node["status"].addresses as { type: string; address: string }[]).find(
    ({ type }) => type === "InternalIP",
  )!.address;
  const port = node["status"].daemonEndpoints.kubeletEndpoint.Port as number;
  const path = `/containerLogs/${namespace}/${name}/${wanted}?${query}`;
  // The real API server does not check the certificate of a kubelet either, unless it is told to.
  const forwarded = httpsRequest({ host, port, path, rejectUnauthorized: false }, (answer) => {
    response.writeHead(answer.statusCode!, { "content-type": "text/plain" });
    response.flushHeaders();
    answer.pipe(response);
  });
  forwarded.on("error", (error) => response.destroy(error));
  response.on("close", () => forwarded.destroy());
  forwarded.end();
}
