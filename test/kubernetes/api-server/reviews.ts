/** Reviews: questions about tokens and permissions, which are asked as objects and never stored. */
import { type Attributes, authorize, hasAccount, isAllowed, rulesOf, type User } from "./authorization.js";
import type { Answer } from "./objects.js";
import type { Store } from "./store.js";

interface Review {
  readonly spec: {
    readonly token?: string;
    readonly audiences?: readonly string[];
    readonly namespace?: string;
    readonly user?: string;
    readonly groups?: readonly string[];
    readonly resourceAttributes?: Partial<Attributes> & { readonly subresource?: string };
  };
}

/** The audience of tokens that are for the API server itself. */
const apiServerAudience = "https://kubernetes.default.svc";

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
    authorize(store, user, { verb: "create", group: "authentication.k8s.io", resource: "tokenreviews" });
    const found = users(spec.token ?? "");
    if (found === undefined || !hasAccount(store, found)) return { user: {}, error: "[invalid bearer token]" };
    const own = found.audiences ?? [apiServerAudience];
    const audiences = (spec.audiences ?? [apiServerAudience]).filter((audience) => own.includes(audience));
    if (audiences.length === 0) return { user: {}, error: "[invalid bearer token, token audiences do not match]" };
    const { name: username, groups, pod } = found;
    const extra =
      pod === undefined
        ? {}
        : {
            "authentication.kubernetes.io/pod-name": [pod.name],
            "authentication.kubernetes.io/pod-uid": [pod.uid],
          };
    return { authenticated: true, user: { username, groups, extra }, audiences };
  }
  if (kind === "SelfSubjectRulesReview") {
    return { resourceRules: rulesOf(store, user, spec.namespace), nonResourceRules: [], incomplete: false };
  }
  const { verb = "", group = "", resource = "", subresource, namespace, name } = spec.resourceAttributes ?? {};
  const subject = kind === "SelfSubjectAccessReview" ? user : { name: spec.user ?? "", groups: spec.groups ?? [] };
  const path = subresource ? `${resource}/${subresource}` : resource;
  return { allowed: isAllowed(store, subject, { verb, group, resource: path, namespace, name }) };
}
