/** Gives each namespace its service account, and ends namespaces that are being deleted. */
import { deleteObject } from "../api-server/deletion.js";
import { type ApiObject, resourceOf, resources } from "../api-server/resources.js";
import type { Store } from "../api-server/store.js";

export function keepNamespaces(store: Store): void {
  const namespaces = resourceOf("namespaces");
  const accounts = resourceOf("serviceaccounts");
  for (const namespace of store.list(namespaces)) {
    const { name, deletionTimestamp } = namespace.metadata;
    if (deletionTimestamp === undefined) {
      if (store.find(accounts, name, "default") !== undefined) continue;
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: name } };
      store.create(accounts, account as ApiObject);
      continue;
    }
    const content = resources
      .filter(({ namespaced }) => namespaced)
      .flatMap((resource) => store.list(resource, name).map((object) => ({ resource, object })));
    for (const { resource, object } of content) {
      if (object.metadata.deletionTimestamp === undefined) deleteObject(store, resource, object, {});
    }
    if (content.length === 0) store.remove(namespaces, namespace);
  }
}
