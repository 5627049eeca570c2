/** The Role that a driver of a job needs, and nothing more. */
import { isProvisioned, type KubernetesSpec } from "../kubernetes-spec.js";
import type { ReachChoice } from "../reach/pod-reach.js";
import type { JobObjects } from "./job-objects.js";
import { jobLabel, sharedSecretName, viewerSecretName } from "./layout.js";
import type { KubernetesObject } from "./objects.js";

/** Permissions of a Role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Returns the Role. It gives access to the objects of this job only, where rules can name them.
 * @param objects the objects of the job
 * @param reach how the driver reaches the pods
 */
export function driverRole(
  { name, namespace, ...spec }: KubernetesSpec,
  objects: JobObjects,
  reach: ReachChoice,
): KubernetesObject {
  const isReadOnly = !Object.values(spec.meshes).some(isProvisioned);
  return role(namespace, name, "driver", reach, [
    ...(isReadOnly ? [] : ownObjects(objects)),
    ...(spec.share ? [sharedCredentials(name)] : []),
  ]);
}

/** Returns the Role of programs that attach a job which is submitted on another machine, and shared. */
export function attachRole(
  { name, namespace }: KubernetesSpec,
  { owner }: JobObjects,
  reach: ReachChoice,
): KubernetesObject {
  return role(namespace, name, "attach", reach, [
    { apiGroups: [""], resources: ["configmaps"], resourceNames: [owner.metadata.name!], verbs: ["get"] },
    { apiGroups: ["batch"], resources: ["jobs"], verbs: ["list", "watch"] },
    sharedCredentials(name),
  ]);
}

/** Returns the Role of programs that look at a job which is submitted on another machine, and shared. */
export function viewRole(
  { name, namespace }: KubernetesSpec,
  { owner }: JobObjects,
  reach: ReachChoice,
): KubernetesObject {
  return role(namespace, name, "view", reach, [
    { apiGroups: [""], resources: ["configmaps"], resourceNames: [owner.metadata.name!], verbs: ["get"] },
    { apiGroups: ["batch"], resources: ["jobs"], verbs: ["list", "watch"] },
    { apiGroups: [""], resources: ["secrets"], resourceNames: [viewerSecretName(name)], verbs: ["get"] },
  ]);
}

/** Returns a Role that reads the pods of a job, connects to them in the way that `reach` needs, and has further rules. */
function role(
  namespace: string,
  job: string,
  purpose: "driver" | "attach" | "view",
  reach: ReachChoice,
  further: readonly PolicyRule[],
): KubernetesObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: `${job}-${purpose}`, namespace, labels: { [jobLabel]: job } },
    rules: [...watchedPods, ...(reach === "direct" ? [] : [forwardedPorts]), ...further],
  };
}

/** Whoever may read them is a driver of the job. */
function sharedCredentials(job: string): PolicyRule {
  return { apiGroups: [""], resources: ["secrets"], resourceNames: [sharedSecretName(job)], verbs: ["get"] };
}

/** The driver reads of pods: their addresses, what they print, and why they do not start. */
export const watchedPods: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
  { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
  { apiGroups: [""], resources: ["events"], verbs: ["list", "watch"] },
];

/** Which of the two verbs the API server wants depends on its version. */
const forwardedPorts: PolicyRule = { apiGroups: [""], resources: ["pods/portforward"], verbs: ["create", "get"] };

function ownObjects({ owner, owned }: JobObjects): PolicyRule[] {
  const namesOf = (kind: string) =>
    [owner, ...owned].filter((object) => object.kind === kind).map(({ metadata }) => metadata.name!);
  const named = (group: string, resource: string, kind: string, verbs: readonly string[]): PolicyRule[] => {
    const resourceNames = namesOf(kind);
    return resourceNames.length === 0 ? [] : [{ apiGroups: [group], resources: [resource], resourceNames, verbs }];
  };
  const network = [
    ...(namesOf("NetworkPolicy").length > 0 ? ["networkpolicies"] : []),
    ...(namesOf("Ingress").length > 0 ? ["ingresses"] : []),
  ];
  return [
    // A host that the driver has lost is ended, so that its Job replaces it, and without the delay that the Job reads from its finalizer.
    { apiGroups: [""], resources: ["pods"], verbs: ["delete", "patch"] },
    // Requests that create or list have no name that a rule could compare.
    { apiGroups: [""], resources: ["configmaps", "secrets", "services"], verbs: ["create"] },
    { apiGroups: ["batch"], resources: ["jobs"], verbs: ["create", "list", "watch"] },
    ...(network.length > 0 ? [{ apiGroups: ["networking.k8s.io"], resources: network, verbs: ["create"] }] : []),
    ...named("", "configmaps", "ConfigMap", ["patch"]),
    // What the owner owns ends with it.
    { apiGroups: [""], resources: ["configmaps"], resourceNames: [owner.metadata.name!], verbs: ["get", "delete"] },
    ...named("", "services", "Service", ["patch"]),
    ...named("", "secrets", "Secret", ["patch"]),
    // The number of hosts of a mesh is read and changed, and why a queue has ended them is read.
    ...named("batch", "jobs", "Job", ["get", "patch"]),
    ...named("networking.k8s.io", "networkpolicies", "NetworkPolicy", ["patch"]),
    ...named("networking.k8s.io", "ingresses", "Ingress", ["patch"]),
  ];
}
