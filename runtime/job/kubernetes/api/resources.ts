/** The addresses of objects in the API of Kubernetes. */
import type { ResourceKind } from "./kubernetes-api.js";

interface Resource {
  /** The path of the group and its version. */
  readonly path: string;
  /** The name of the resource in paths and in RBAC. */
  readonly plural: string;
}

const resources: Readonly<Record<ResourceKind, Resource>> = {
  ConfigMap: { path: "api/v1", plural: "configmaps" },
  Event: { path: "api/v1", plural: "events" },
  Ingress: { path: "apis/networking.k8s.io/v1", plural: "ingresses" },
  Job: { path: "apis/batch/v1", plural: "jobs" },
  NetworkPolicy: { path: "apis/networking.k8s.io/v1", plural: "networkpolicies" },
  Pod: { path: "api/v1", plural: "pods" },
  Secret: { path: "api/v1", plural: "secrets" },
  Service: { path: "api/v1", plural: "services" },
};

/** Returns the name of the resource of a kind, as Roles have it. */
export function pluralOf(kind: ResourceKind): string {
  return resources[kind].plural;
}

/** Returns the path of an object, or of all objects of a kind. */
export function pathOf(namespace: string, kind: ResourceKind, name?: string): string {
  const { path, plural } = resources[kind];
  const all = `/${path}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  return name === undefined ? all : `${all}/${encodeURIComponent(name)}`;
}
