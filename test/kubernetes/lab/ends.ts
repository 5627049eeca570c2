/** What a lab leaves behind, and what every cluster has at its start. */
import { type ApiObject, resourceOf } from "../api-server/resources.js";
import type { Store } from "../api-server/store.js";

/** Calls that take a lab down, in the order in which its parts were started. */
export type Ends = (() => void | Promise<void>)[];

/** Takes everything down, the last part first. */
export async function endAll(ends: Ends): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

/** Creates the namespaces and priorities that every cluster has. */
export function makeNamespaces(store: Store): void {
  for (const name of ["default", "kube-system", "kube-node-lease"]) {
    const object = { apiVersion: "v1", kind: "Namespace", metadata: { name }, status: { phase: "Active" } };
    store.create(resourceOf("namespaces"), object as unknown as ApiObject);
  }
}
