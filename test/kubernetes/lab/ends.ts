/** What a lab leaves behind, and what every cluster has at its start. */
import { type ApiObject, resourceOf } from "../api-server/resources.js";
import type { Store } from "../api-server/store.js";

/** Calls that take a lab down, in the order in which its parts were started. */
export type Ends = (() => void | Promise<void>)[];

/**
 * Takes everything down, the last part first. A part that cannot be taken down does not keep the others.
 * @throws AggregateError with what could not be taken down
 */
export async function endAll(ends: Ends): Promise<void> {
  const errors: unknown[] = [];
  for (const end of ends.splice(0).reverse()) {
    try {
      await end();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `cannot take down a part of the lab: ${errors.join("; ")}`);
}

/** Creates the namespaces and priorities that every cluster has. */
export function makeNamespaces(store: Store): void {
  for (const name of ["default", "kube-system", "kube-node-lease"]) {
    const object = { apiVersion: "v1", kind: "Namespace", metadata: { name }, status: { phase: "Active" } };
    store.create(resourceOf("namespaces"), object as unknown as ApiObject);
  }
}
