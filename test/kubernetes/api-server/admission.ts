/** What the stand-in API server checks and completes before it stores an object. */
import { randomBytes } from "node:crypto";
import { podSecurityViolations } from "./pod-security.js";
import { checkQuota } from "./quota.js";
import { type ApiObject, qualifiedName, type Resource, resourceOf } from "./resources.js";
import { badRequest, invalid, StatusError } from "./status-error.js";
import type { Store } from "./store.js";

const dns1123 = "a lowercase RFC 1123";
const subdomain = `${dns1123} subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`;
const label = `${dns1123} label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`;
const labelled = ["namespaces", "services"];

interface PodSpec {
  containers?: { name: string; image?: string; imagePullPolicy?: string }[];
  [field: string]: unknown;
}

/** Completes a new object as the real API server does. @throws StatusError if it is refused */
export function admitNew(store: Store, resource: Resource, object: ApiObject): void {
  const { metadata } = object;
  if (!metadata.name && metadata.generateName)
    metadata.name = `${metadata.generateName}${randomBytes(3).toString("hex").slice(0, 5)}`;
  if (!metadata.name) throw invalid(resource, "", ["metadata.name: Required value: name or generateName is required"]);
  checkName(resource, metadata.name);
  if (resource.namespaced) checkNamespace(store, resource, metadata.namespace!, metadata.name);
  metadata.generation = 1;
  if (resource.plural === "pods") admitPod(store, object);
  if (resource.plural === "jobs") admitJob(object);
  if (resource.plural === "services")
    object["spec"] = { type: "ClusterIP", sessionAffinity: "None", ...object["spec"] };
  if (resource.plural === "namespaces") {
    object["spec"] = { finalizers: ["kubernetes"] };
    object["status"] = { phase: "Active" };
    metadata.labels = { ...metadata.labels, "kubernetes.io/metadata.name": metadata.name };
  }
  if (resource.plural === "secrets") takeStringData(object);
}

/** Checks a changed object. @throws StatusError if a field differs that cannot change */
export function admitChange(resource: Resource, before: ApiObject, object: ApiObject): void {
  if (resource.plural === "secrets") {
    takeStringData(object);
    if (before["immutable"] === true && JSON.stringify(before["data"]) !== JSON.stringify(object["data"])) {
      throw invalid(resource, object.metadata.name, ["data: Forbidden: field is immutable when `immutable` is set"]);
    }
  }
  const immutable = {
    jobs: ["completionMode", "selector", "template"],
    pods: ["containers", "nodeName"],
  }[resource.plural];
  for (const field of immutable ?? []) {
    // A suspended job has not started, so its template can change.
    if (field === "template" && before["spec"].suspend === true) continue;
    const [old, now] = [before, object].map((state) => JSON.stringify(state["spec"]?.[field]));
    if (old !== now)
      throw invalid(resource, object.metadata.name, [`spec.${field}: Invalid value: ${now}: field is immutable`]);
  }
  if (resource.plural === "jobs") checkCompletions(before, object);
  if (JSON.stringify(before["spec"]) !== JSON.stringify(object["spec"]))
    object.metadata.generation = (before.metadata.generation ?? 1) + 1;
}

/** Indexed jobs can be scaled: by both numbers together. */
function checkCompletions({ spec: before }: ApiObject, { metadata, spec }: ApiObject): void {
  if (before.completions === spec.completions) return;
  const fail = (why: string) =>
    invalid(resourceOf("jobs"), metadata.name, [`spec.completions: Invalid value: ${spec.completions}: ${why}`]);
  if (spec.completionMode !== "Indexed") throw fail("field is immutable");
  if (spec.completions !== spec.parallelism) throw fail("can only be modified in tandem with spec.parallelism");
}

function checkName(resource: Resource, name: string): void {
  const short = labelled.includes(resource.plural);
  const pattern = short
    ? /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
    : /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
  const longest = short ? 63 : 253;
  if (resource.group === "rbac.authorization.k8s.io") return;
  if (!pattern.test(name))
    throw invalid(resource, name, [`metadata.name: Invalid value: "${name}": ${short ? label : subdomain}`]);
  if (name.length > longest)
    throw invalid(resource, name, [
      `metadata.name: Invalid value: "${name}": must be no more than ${longest} characters`,
    ]);
}

function checkNamespace(store: Store, resource: Resource, namespace: string, name: string): void {
  const found = store.get(resourceOf("namespaces"), undefined, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw new StatusError(403, "Forbidden", `${qualifiedName(resource)} "${name}" is forbidden: ${why}`, {
    name,
    kind: resource.plural,
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });
}

function admitPod(store: Store, pod: ApiObject): void {
  const { name, namespace } = pod.metadata;
  completePodSpec(pod["spec"], resourceOf("pods"), name, "spec");
  const spec = pod["spec"];
  spec.restartPolicy ??= "Always";
  admitPriority(store, name, spec);
  if (store.find(resourceOf("serviceaccounts"), namespace, spec.serviceAccountName) === undefined) {
    const why = `error looking up service account ${namespace}/${spec.serviceAccountName}: serviceaccount "${spec.serviceAccountName}" not found`;
    throw new StatusError(403, "Forbidden", `pods "${name}" is forbidden: ${why}`, { name, kind: "pods" });
  }
  const violations = podSecurityViolations(store.get(resourceOf("namespaces"), undefined, namespace!), spec);
  if (violations.length > 0) {
    const why = `violates PodSecurity "restricted:latest": ${violations.join(", ")}`;
    throw new StatusError(403, "Forbidden", `pods "${name}" is forbidden: ${why}`, { name, kind: "pods" });
  }
  checkQuota(store, pod);
  mountToken(spec);
  pod["status"] = { phase: "Pending", qosClass: "BestEffort" };
}

/** Gives the containers of a pod a token of its service account, where clients look for it. */
function mountToken(spec: PodSpec): void {
  if (spec["automountServiceAccountToken"] === false) return;
  const name = "kube-api-access";
  const fieldRef = { apiVersion: "v1", fieldPath: "metadata.namespace" };
  const sources = [
    { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    { downwardAPI: { items: [{ path: "namespace", fieldRef }] } },
  ];
  spec["volumes"] = [...((spec["volumes"] as object[]) ?? []), { name, projected: { sources } }];
  const mount = { name, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true };
  for (const container of [...((spec["initContainers"] as object[]) ?? []), ...spec.containers!]) {
    const mounted = container as { volumeMounts?: object[] };
    mounted.volumeMounts = [...(mounted.volumeMounts ?? []), mount];
  }
}

function admitPriority(store: Store, name: string, spec: PodSpec): void {
  const { priorityClassName } = spec as { priorityClassName?: string };
  const known = store.find(resourceOf("priorityclasses"), undefined, priorityClassName ?? "");
  if (priorityClassName !== undefined && known === undefined) {
    const why = `no PriorityClass with name ${priorityClassName} was found`;
    throw new StatusError(403, "Forbidden", `pods "${name}" is forbidden: ${why}`, { name, kind: "pods" });
  }
  spec["priority"] ??= known?.["value"] ?? 0;
}

function completePodSpec(spec: PodSpec | undefined, resource: Resource, name: string, path: string): void {
  if (spec === undefined) throw invalid(resource, name, [`${path}: Required value`]);
  if (!spec.containers?.length) throw invalid(resource, name, [`${path}.containers: Required value`]);
  for (const [i, container] of spec.containers.entries()) {
    if (!container.image) throw invalid(resource, name, [`${path}.containers[${i}].image: Required value`]);
    container.imagePullPolicy ??=
      /:[^/]+$/.test(container.image) && !container.image.endsWith(":latest") ? "IfNotPresent" : "Always";
  }
  spec["serviceAccountName"] ??= "default";
  spec["terminationGracePeriodSeconds"] ??= 30;
  spec["dnsPolicy"] ??= "ClusterFirst";
  spec["schedulerName"] ??= "default-scheduler";
  spec["securityContext"] ??= {};
}

function admitJob(job: ApiObject): void {
  const resource = resourceOf("jobs");
  const { name } = job.metadata;
  const spec = job["spec"];
  if (spec === undefined) throw invalid(resource, name, ["spec: Required value"]);
  if (!["Never", "OnFailure"].includes(spec.template?.spec?.restartPolicy)) {
    const value = spec.template?.spec?.restartPolicy ?? "Always";
    throw invalid(resource, name, [
      `spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never", got "${value}"`,
    ]);
  }
  completePodSpec(spec.template.spec, resource, name, "spec.template.spec");
  if (spec.completionMode === "Indexed" && spec.completions === undefined) {
    throw invalid(resource, name, ["spec.completions: Required value: when completion mode is Indexed"]);
  }
  spec.parallelism ??= 1;
  spec.completions ??= 1;
  spec.completionMode ??= "NonIndexed";
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2_147_483_647;
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
  job["status"] = {};
}

function takeStringData(secret: ApiObject): void {
  const data = Object.entries((secret["stringData"] ?? {}) as Record<string, string>);
  delete secret["stringData"];
  secret["type"] ??= "Opaque";
  if (data.length === 0) return;
  secret["data"] = {
    ...secret["data"],
    ...Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
  };
}

/** @throws StatusError if the object in a request is not of the resource in its path */
export function checkKind(resource: Resource, namespace: string | undefined, object: ApiObject): void {
  if (object === null || typeof object !== "object" || Array.isArray(object))
    throw badRequest("the body of the request was in an unknown format");
  object.metadata ??= {} as ApiObject["metadata"];
  if (namespace !== undefined && object.metadata.namespace !== undefined && object.metadata.namespace !== namespace) {
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  }
  object.kind ??= resource.kind;
  object.apiVersion ??= resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  if (object.kind !== resource.kind)
    throw badRequest(`${object.kind} in version "${object.apiVersion}" cannot be handled as a ${resource.kind}`);
  if (namespace !== undefined) object.metadata.namespace = namespace;
  else delete object.metadata.namespace;
}
