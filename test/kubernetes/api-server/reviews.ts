/** Reviews: questions about tokens and permissions, which are asked as objects and never stored. */
import { type Attributes, isAllowed, rulesOf, type User } from "./authorization.js";
import type { Answer } from "./objects.js";
import type { Store } from "./store.js";

interface Review {
  readonly spec: {
    readonly token?: string;
    readonly namespace?: string;
    readonly user?: string;
    readonly groups?: readonly string[];
    readonly resourceAttributes?: Partial<Attributes> & { readonly subresource?: string };
  };
}

const paths: Readonly<Record<string, string>> = {
  "/apis/authentication.k8s.io/v1/tokenreviews": "TokenReview",
  "/apis/authentication.k8s.io/v1/selfsubjectreviews": "SelfSubjectReview",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": "SelfSubjectAccessReview",
  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews": "SelfSubjectRulesReview",
  "/apis/authorization.k8s.io/v1/subjectaccessreviews": "SubjectAccessReview",
};

/** @returns the answer to a review, or undefined if the path is none of a review */
export function review(
  store: Store,
  path: string,
  user: User,
  body: unknown,
  users: (token: string) => User | undefined,
): Answer | undefined {
  const kind = paths[path];
  if (kind === undefined) return undefined;
  const { spec } = body as Review;
  const status = statusOf(store, kind, user, spec ?? {}, users);
  return { code: 201, body: { ...(body as object), metadata: { creationTimestamp: null }, status } };
}

function statusOf(
  store: Store,
  kind: string,
  user: User,
  spec: Review["spec"],
  users: (token: string) => User | undefined,
): object {
  if (kind === "SelfSubjectReview") return { userInfo: { username: user.name, groups: user.groups } };
  if (kind === "TokenReview") {
    const found = users(spec.token ?? "");
    if (found === undefined) return { user: {}, error: "[invalid bearer token]" };
    return { authenticated: true, user: { username: found.name, groups: found.groups } };
  }
  if (kind === "SelfSubjectRulesReview") {
    return { resourceRules: rulesOf(store, user, spec.namespace), nonResourceRules: [], incomplete: false };
  }
  const { verb = "", group = "", resource = "", subresource, namespace, name } = spec.resourceAttributes ?? {};
  const subject = kind === "SelfSubjectAccessReview" ? user : { name: spec.user ?? "", groups: spec.groups ?? [] };
  const path = subresource ? `${resource}/${subresource}` : resource;
  return { allowed: isAllowed(store, subject, { verb, group, resource: path, namespace, name }) };
}
