/** How objects end: at once, after a pod's grace period, or when nobody's finalizer holds them any more. */

import { type ApiObject, type Resource, resourceOf } from "./resources.js";
import { badRequest, conflict } from "./status-error.js";
import { type Store, timestamp } from "./store.js";

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const finalizerOf: Readonly<Record<string, string>> = { Foreground: "foregroundDeletion", Orphan: "orphan" };

/**
 * Deletes an object, or marks it as being deleted.
 * @returns the object as it is afterwards
 * @throws StatusError if it is not the object that the preconditions name
 */
export function deleteObject(store: Store, resource: Resource, object: ApiObject, options: DeleteOptions): ApiObject {
  const { name, uid, resourceVersion } = object.metadata;
  const { preconditions = {}, propagationPolicy } = options;
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${preconditions.uid}, UID in object meta: ${uid}`;
    throw conflict(resource, name, why);
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(resource, name, "Precondition failed: the resource version in the precondition is another one");
  }
  if (![undefined, "Background", "Foreground", "Orphan"].includes(propagationPolicy)) {
    throw badRequest(`invalid propagation policy: ${propagationPolicy}`);
  }
  const finalizer = finalizerOf[propagationPolicy ?? ""];
  if (finalizer !== undefined)
    object.metadata.finalizers = [...new Set([...(object.metadata.finalizers ?? []), finalizer])];
  const grace = resource.plural === "pods" ? gracePeriod(object, options) : 0;
  const waits = grace > 0 || (object.metadata.finalizers ?? []).length > 0 || resource.plural === "namespaces";
  if (!waits) return store.remove(resource, object);
  // A second deletion can only shorten the first one.
  const earlier = object.metadata.deletionGracePeriodSeconds;
  if (object.metadata.deletionTimestamp === undefined || grace < (earlier ?? 0)) {
    object.metadata.deletionTimestamp = timestamp(new Date(Date.now() + grace * 1000));
    object.metadata.deletionGracePeriodSeconds = grace;
  }
  if (resource.plural === "namespaces") object["status"] = { ...object["status"], phase: "Terminating" };
  return store.update(resource, object);
}

/** Returns the seconds that a pod gets. One that has not been placed, or has ended, needs none. */
function gracePeriod({ spec, status }: ApiObject, { gracePeriodSeconds }: DeleteOptions): number {
  const over = ["Succeeded", "Failed"].includes(status?.phase);
  return spec.nodeName === undefined || over ? 0 : (gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 30);
}

/** Removes an object that is being deleted, after nothing holds it any more. @returns whether it has been removed */
export function removeReleased(store: Store, resource: Resource, object: ApiObject): boolean {
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
  if (resource === resourceOf("namespaces")) return false;
  store.remove(resource, object);
  return true;
}
