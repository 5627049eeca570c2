/** Events that controllers report about objects. */
import { randomBytes } from "node:crypto";
import { type ApiObject, resourceOf } from "../api-server/resources.js";
import { type Store, timestamp } from "../api-server/store.js";

/** Reports an event about an object; the same event again counts up. */
export function report(
  store: Store,
  object: ApiObject,
  type: "Normal" | "Warning",
  reason: string,
  message: string,
  component: string,
): void {
  const { name, uid, namespace = "default" } = object.metadata;
  const events = resourceOf("events");
  const terminating =
    store.find(resourceOf("namespaces"), undefined, namespace)?.metadata.deletionTimestamp !== undefined;
  if (terminating) return;
  const now = timestamp();
  const same = store
    .list(events, namespace)
    .find((event) => event["involvedObject"].uid === uid && event["reason"] === reason && event["message"] === message);
  if (same !== undefined) {
    store.change(events, same, (event) => Object.assign(event, { count: event["count"] + 1, lastTimestamp: now }));
    return;
  }
  const metadata = { name: `${name}.${randomBytes(8).toString("hex")}`, namespace };
  const involvedObject = { kind: object.kind, namespace, name, uid, apiVersion: object.apiVersion };
  const fields = { involvedObject, reason, message, type, count: 1, firstTimestamp: now, lastTimestamp: now };
  const event = { apiVersion: "v1", kind: "Event", metadata, ...fields, source: { component } };
  store.create(events, event as unknown as ApiObject);
}
