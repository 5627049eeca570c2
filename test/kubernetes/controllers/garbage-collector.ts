/** Deletes objects whose owners are gone, and ends deletions that wait for dependents. */
import { deleteObject, removeReleased } from "../api-server/deletion.js";
import { type ApiObject, type Resource, resources } from "../api-server/resources.js";
import type { Store } from "../api-server/store.js";

interface Stored {
  readonly resource: Resource;
  readonly object: ApiObject;
}

export function collectGarbage(store: Store): void {
  const all = resources.flatMap((resource) => store.list(resource).map((object) => ({ resource, object })));
  const owners = new Map(all.map((stored) => [stored.object.metadata.uid, stored]));
  for (const stored of all) {
    const { ownerReferences = [], finalizers = [], deletionTimestamp, uid } = stored.object.metadata;
    const orphaned = ownerReferences.length > 0 && ownerReferences.every((owner) => !owners.has(owner.uid));
    if (orphaned && deletionTimestamp === undefined) deleteStored(store, stored);
    if (deletionTimestamp === undefined) continue;
    const dependents = all.filter(({ object }) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid));
    if (finalizers.includes("foregroundDeletion")) {
      for (const dependent of dependents.filter(({ object }) => object.metadata.deletionTimestamp === undefined)) {
        deleteStored(store, dependent, "Foreground");
      }
      if (dependents.length === 0) release(store, stored, "foregroundDeletion");
    }
    if (finalizers.includes("orphan")) {
      for (const { resource, object } of dependents) {
        store.change(resource, object, ({ metadata }) => {
          metadata.ownerReferences = (metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
        });
      }
      release(store, stored, "orphan");
    }
  }
}

function deleteStored(store: Store, { resource, object }: Stored, propagationPolicy = "Background"): void {
  const { namespace, name, uid } = object.metadata;
  const current = store.find(resource, namespace, name);
  if (current?.metadata.uid === uid) deleteObject(store, resource, current, { propagationPolicy });
}

/** Removes a finalizer, and the object if it was the last one. */
export function release(store: Store, { resource, object }: Stored, finalizer: string): void {
  const released = store.change(resource, object, ({ metadata }) => {
    metadata.finalizers = (metadata.finalizers ?? []).filter((name) => name !== finalizer);
  });
  if (released !== undefined) removeReleased(store, resource, released);
}
