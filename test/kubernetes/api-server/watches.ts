/** Watches: a response that never ends, with a line of JSON for each change. */
import type { ServerResponse } from "node:http";
import type { ApiRequest } from "./request.js";
import { type ApiObject, groupVersion } from "./resources.js";
import { selector } from "./selectors.js";
import { StatusError } from "./status-error.js";
import type { Change, Store } from "./store.js";

/** How often a watch that allows it gets a bookmark, in milliseconds. */
const bookmarkInterval = 1_000;

/** Answers a watch, until the client leaves, its time is over, or the server stops. */
export function watchObjects(
  store: Store,
  { resource, namespace, name, query }: ApiRequest,
  response: ServerResponse,
): void {
  const matches = selector(query.get("labelSelector"), query.get("fieldSelector"));
  const wanted = (object: ApiObject) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (name === undefined || object.metadata.name === name) &&
    matches(object);
  const send = (type: string, object: unknown) => {
    // The response has ended for a moment before it closes.
    if (!response.writableEnded) response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const sendChange = (change: Change) => {
    if (change.resource !== resource) return;
    const now = change.type !== "DELETED" && wanted(change.object);
    const before = change.before !== undefined && wanted(change.before);
    // An object that does not match the selector any more is gone for this watch, and one that begins to match is new.
    if (now) send(before ? "MODIFIED" : "ADDED", change.object);
    else if (before) send("DELETED", change.object);
  };
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  const since = query.get("resourceVersion") ?? "";
  try {
    // Without a version, a watch begins with all objects that are there.
    const fromNow = since === "" || since === "0";
    const { past, stop } = store.follow(fromNow ? store.version : Number(since), sendChange);
    response.on("close", stop);
    if (fromNow) for (const object of store.list(resource, namespace).filter(wanted)) send("ADDED", object);
    past.forEach(sendChange);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    // The real server answers 200 here, too, and reports the error as an event.
    send("ERROR", error.status);
    response.end();
    return;
  }
  const bookmark = () => {
    const metadata = { resourceVersion: String(store.version), creationTimestamp: null };
    send("BOOKMARK", { kind: resource.kind, apiVersion: groupVersion(resource), metadata });
  };
  const bookmarks = query.get("allowWatchBookmarks") === "true" ? setInterval(bookmark, bookmarkInterval) : undefined;
  const seconds = Number(query.get("timeoutSeconds") ?? 0);
  const timeout = seconds > 0 ? setTimeout(() => response.end(), seconds * 1000) : undefined;
  response.on("close", () => {
    clearInterval(bookmarks);
    clearTimeout(timeout);
  });
}
