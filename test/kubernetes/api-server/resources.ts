/** The kinds of objects that the stand-in API server knows, and the shape that they have in common. */

/** Any JSON value of an object. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: Json[];
}

/** An object as it is stored. The stand-in is free of schemas, so everything besides the metadata is any JSON. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  // biome-ignore lint/suspicious/noExplicitAny: The fields of an object depend on its kind.
  [field: string]: any;
}

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
}

function resource(groupVersion: string, kind: string, plural: string, ...subresources: string[]): Resource {
  const namespaced = !["Namespace", "Node", "ClusterRole", "ClusterRoleBinding", "PriorityClass"].includes(kind);
  const [group, version] = groupVersion.includes("/")
    ? (groupVersion.split("/") as [string, string])
    : ["", groupVersion];
  return { group, version, plural, kind, namespaced, subresources };
}

export const resources: readonly Resource[] = [
  resource("v1", "Namespace", "namespaces", "status", "finalize"),
  resource("v1", "Node", "nodes", "status"),
  resource("v1", "Pod", "pods", "status", "log", "eviction", "binding", "portforward"),
  resource("v1", "Service", "services", "status"),
  resource("v1", "Secret", "secrets"),
  resource("v1", "ConfigMap", "configmaps"),
  resource("v1", "Event", "events"),
  resource("v1", "ServiceAccount", "serviceaccounts", "token"),
  resource("v1", "ResourceQuota", "resourcequotas", "status"),
  resource("batch/v1", "Job", "jobs", "status"),
  resource("coordination.k8s.io/v1", "Lease", "leases"),
  resource("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
  resource("networking.k8s.io/v1", "Ingress", "ingresses", "status"),
  resource("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", "status"),
  resource("rbac.authorization.k8s.io/v1", "Role", "roles"),
  resource("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
  resource("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles"),
  resource("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings"),
  resource("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),
];

export function groupVersion({ group, version }: Pick<Resource, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns the name of a resource as errors and roles write it, such as `jobs.batch`. */
export function qualifiedName({ group, plural }: Resource): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** Returns a resource by its plural name. */
export function resourceOf(plural: string): Resource {
  return resources.find((candidate) => candidate.plural === plural)!;
}
