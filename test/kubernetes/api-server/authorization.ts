/** Who may do what: users by their tokens, and the rules of roles that are bound to them. */
import { type ApiObject, type Resource, resourceOf } from "./resources.js";
import { StatusError } from "./status-error.js";
import type { Store } from "./store.js";

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  /** The service account for which the token was issued; absent for other users. */
  readonly account?: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** For whom the token was issued; absent: the API server. */
  readonly audiences?: readonly string[];
  /** The pod to which the token is bound; absent if it is bound to none. */
  readonly pod?: { readonly name: string; readonly uid: string };
}

/** What a request does. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  /** The plural name, and the subresource after a slash if there is one. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export const systemMasters = "system:masters";

/** Returns whether the token of a user is valid: that of a service account ends with it, and with the pod to which it is bound. */
export function hasAccount(store: Store, { account, pod }: User): boolean {
  if (account === undefined) return true;
  const bound =
    pod === undefined || store.find(resourceOf("pods"), account.namespace, pod.name)?.metadata.uid === pod.uid;
  if (!bound) return false;
  const found = store.find(resourceOf("serviceaccounts"), account.namespace, account.name);
  return found?.metadata.uid === account.uid;
}

/** Returns the user of a service account. */
export function serviceAccountUser(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

export function isAllowed(store: Store, user: User, attributes: Attributes): boolean {
  return (
    user.groups.includes(systemMasters) ||
    rulesOf(store, user, attributes.namespace).some((rule) => covers(rule, attributes))
  );
}

/** @throws StatusError with the code 403 and the text of the real API server */
export function authorize(store: Store, user: User, attributes: Attributes): void {
  if (isAllowed(store, user, attributes)) return;
  const { verb, group, resource, namespace, name } = attributes;
  const [plural, subresource] = resource.split("/") as [string, string | undefined];
  const qualified = group === "" ? plural : `${plural}.${group}`;
  const what = name === undefined ? qualified : `${qualified} "${name}"`;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const path = subresource === undefined ? plural : resource;
  const message = `${what} is forbidden: User "${user.name}" cannot ${verb} resource "${path}" in API group "${group}" ${where}`;
  throw new StatusError(403, "Forbidden", message, {
    kind: plural,
    ...(group === "" ? {} : { group }),
    ...(name === undefined ? {} : { name }),
  });
}

/** Checks that a user may make an object by an apply. @throws StatusError with the text of the real API server, which names no verb here */
export function authorizeApplied(store: Store, user: User, attributes: Attributes): void {
  if (isAllowed(store, user, attributes)) return;
  const { group, resource, name } = attributes;
  const qualified = group === "" ? resource : `${resource}.${group}`;
  throw new StatusError(403, "Forbidden", `${qualified} "${name}" is forbidden: `, { kind: resource });
}

/** Returns the rules that hold for a user in a namespace, or for the whole cluster. */
export function rulesOf(store: Store, user: User, namespace: string | undefined): Rule[] {
  const cluster = store.list(resourceOf("clusterrolebindings"));
  const local = namespace === undefined ? [] : store.list(resourceOf("rolebindings"), namespace);
  return [...cluster, ...local]
    .filter((binding) => binds(binding, user))
    .flatMap((binding) => {
      const { kind, name } = binding["roleRef"] as { kind: string; name: string };
      const resource = resourceOf(kind === "ClusterRole" ? "clusterroles" : "roles");
      const role = store.find(resource, resource.namespaced ? binding.metadata.namespace : undefined, name);
      return (role?.["rules"] ?? []) as Rule[];
    });
}

function binds(binding: ApiObject, user: User): boolean {
  const subjects = (binding["subjects"] ?? []) as { kind: string; name: string; namespace?: string }[];
  return subjects.some(({ kind, name, namespace }) => {
    if (kind === "ServiceAccount")
      return user.name === `system:serviceaccount:${namespace ?? binding.metadata.namespace}:${name}`;
    return kind === "Group" ? user.groups.includes(name) : user.name === name;
  });
}

function covers({ apiGroups = [], resources = [], resourceNames = [], verbs }: Rule, wanted: Attributes): boolean {
  const has = (list: readonly string[], value: string) => list.includes("*") || list.includes(value);
  const names = resourceNames.length === 0 || (wanted.name !== undefined && resourceNames.includes(wanted.name));
  return has(verbs, wanted.verb) && has(apiGroups, wanted.group) && has(resources, wanted.resource) && names;
}

/** Returns the attributes of a request for an object or a collection. */
export function attributesOf(
  verb: string,
  resource: Resource,
  namespace?: string,
  name?: string,
  subresource?: string,
): Attributes {
  const plural = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  return { verb, group: resource.group, resource: plural, namespace, name };
}
