/** The verbs of the API server on stored objects, besides watching. */
import { admitChange, admitNew, checkKind } from "./admission.js";
import { apply, recordUpdate } from "./apply.js";
import { type DeleteOptions, deleteObject, removeReleased } from "./deletion.js";
import { jsonPatch, mergePatch, strategicMergePatch } from "./patch.js";
import type { ApiRequest } from "./request.js";
import { type ApiObject, groupVersion, type Json } from "./resources.js";
import { selector } from "./selectors.js";
import { badRequest, notFound, StatusError } from "./status-error.js";
import type { Store } from "./store.js";

export interface Answer {
  readonly code: number;
  readonly body: unknown;
}

/** The content of a request with a body. */
export interface Content {
  readonly type: string;
  readonly value: unknown;
  /** The client, which manages the fields that it writes without naming a manager. */
  readonly agent: string;
}

export function listObjects(store: Store, { resource, namespace, query }: ApiRequest): Answer {
  const matches = selector(query.get("labelSelector"), query.get("fieldSelector"));
  const all = store.list(resource, namespace).filter(matches);
  // Chunks are cut from the newest state, which differs from the real server only while objects come and go.
  const from = Number(query.get("continue") ?? 0);
  const limit = Number(query.get("limit") ?? 0) || all.length;
  const items = all.slice(from, from + limit);
  const rest = all.length - from - items.length;
  const more = rest > 0 ? { continue: String(from + items.length), remainingItemCount: rest } : {};
  const metadata = { resourceVersion: String(store.version), ...more };
  return { code: 200, body: { kind: `${resource.kind}List`, apiVersion: groupVersion(resource), metadata, items } };
}

export function getObject(store: Store, { resource, namespace, name }: ApiRequest): Answer {
  return { code: 200, body: store.get(resource, namespace, name!) };
}

export function createObject(store: Store, request: ApiRequest, { value, agent }: Content): Answer {
  const { resource, namespace, query } = request;
  const object = structuredClone(value) as ApiObject;
  checkKind(resource, namespace, object);
  if (object.metadata.resourceVersion) throw badRequest("resourceVersion should not be set on objects to be created");
  admitNew(store, resource, object);
  recordUpdate(undefined, object, query.get("fieldManager") ?? agent);
  return { code: 201, body: store.create(resource, object) };
}

export function updateObject(store: Store, request: ApiRequest, { value, agent }: Content): Answer {
  const { resource, namespace, name } = request;
  const object = structuredClone(value) as ApiObject;
  checkKind(resource, namespace, object);
  const before = store.get(resource, namespace, name!);
  return { code: 200, body: replace(store, request, before, object, agent) };
}

export function patchObject(store: Store, request: ApiRequest, content: Content): Answer {
  const { resource, namespace, name, query } = request;
  const before = store.find(resource, namespace, name!);
  const agent = query.get("fieldManager") ?? content.agent;
  if (content.type === "application/apply-patch+yaml") return applyObject(store, request, before, content);
  if (before === undefined) throw notFound(resource, name!);
  const kinds: Record<string, () => Json> = {
    "application/json-patch+json": () => jsonPatch(before as unknown as Json, content.value as Json),
    "application/merge-patch+json": () => mergePatch(before as unknown as Json, content.value as Json),
    "application/strategic-merge-patch+json": () =>
      strategicMergePatch(before as unknown as Json, content.value as Json),
  };
  const patched = kinds[content.type]?.();
  if (patched === undefined) {
    const why = `the body of the request was in an unknown format - accepted media types include: ${Object.keys(kinds).join(", ")}`;
    throw new StatusError(415, "UnsupportedMediaType", why);
  }
  return { code: 200, body: replace(store, request, before, patched as unknown as ApiObject, agent) };
}

function applyObject(store: Store, request: ApiRequest, before: ApiObject | undefined, { value }: Content): Answer {
  const { resource, namespace, name, query, subresource } = request;
  const wanted = structuredClone(value) as ApiObject;
  checkKind(resource, namespace, wanted);
  wanted.metadata.name ??= name!;
  const object = apply(before, wanted, query.get("fieldManager") ?? "", query.get("force") === "true");
  if (before !== undefined) return { code: 200, body: storeChange(store, request, before, object) };
  if (subresource !== undefined) throw notFound(resource, name!);
  admitNew(store, resource, object);
  return { code: 201, body: store.create(resource, object) };
}

function replace(store: Store, request: ApiRequest, before: ApiObject, object: ApiObject, agent: string): ApiObject {
  if (request.subresource === undefined) recordUpdate(before, object, agent);
  return storeChange(store, request, before, object);
}

/** Stores a changed object. The status can be written by its subresource alone, and the rest by the object alone. */
function storeChange(
  store: Store,
  { resource, subresource }: ApiRequest,
  before: ApiObject,
  object: ApiObject,
): ApiObject {
  const { status } = subresource === "status" ? object : before;
  const stored =
    subresource === "status"
      ? { ...before, metadata: { ...before.metadata, resourceVersion: object.metadata.resourceVersion } }
      : object;
  const next: ApiObject = { ...stored, ...(status === undefined ? {} : { status }) };
  const { deletionTimestamp, deletionGracePeriodSeconds } = before.metadata;
  if (deletionTimestamp !== undefined) Object.assign(next.metadata, { deletionTimestamp, deletionGracePeriodSeconds });
  admitChange(resource, before, next);
  const written = store.update(resource, next);
  removeReleased(store, resource, written);
  return written;
}

export function deleteOne(store: Store, request: ApiRequest, body: unknown): Answer {
  const { resource, namespace, name } = request;
  const object = store.get(resource, namespace, name!);
  return { code: 200, body: deleteObject(store, resource, object, deleteOptions(request, body)) };
}

export function deleteMany(store: Store, request: ApiRequest, body: unknown): Answer {
  const { resource, namespace, query } = request;
  const matches = selector(query.get("labelSelector"), query.get("fieldSelector"));
  const options = deleteOptions(request, body);
  const items = store
    .list(resource, namespace)
    .filter(matches)
    .map((object) => deleteObject(store, resource, object, options));
  const metadata = { resourceVersion: String(store.version) };
  return { code: 200, body: { kind: `${resource.kind}List`, apiVersion: groupVersion(resource), metadata, items } };
}

/** Returns the options of a deletion: those of the body, or those of the query if there is no body. */
function deleteOptions({ query }: ApiRequest, body: unknown): DeleteOptions {
  if (body !== undefined) return body as DeleteOptions;
  const grace = query.get("gracePeriodSeconds");
  const policy = query.get("propagationPolicy");
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
  };
}
