/** Reads what the API server says about a request: its state, and its result or its error. It never reads pickled objects of Python. */
import { isObject, parseJson } from "./plain-json.js";

/** The states of a request that has not ended. */
const openStates: ReadonlySet<unknown> = new Set(["PENDING", "RUNNING", "WAITING"]);

/** A request is open, was cancelled, has failed with an error, or has returned a value. */
export interface RequestResult {
  readonly isOpen: boolean;
  readonly isCancelled: boolean;
  /** The error of SkyPilot; undefined if there is none. */
  readonly error: { readonly kind: string; readonly message: string } | undefined;
  /** The value that the request has returned. */
  readonly value: unknown;
}

/** A request of which the API server knows. */
export interface KnownRequest {
  readonly id: string;
  /** Its name, such as `"sky.launch"`. */
  readonly name: string;
}

/** Reads the answer about one request; undefined if it is something else. */
export function parseResult(text: string): RequestResult | undefined {
  const body = parseJson(text);
  const request = isObject(body) && isObject(body["detail"]) ? body["detail"] : body;
  if (!isObject(request) || typeof request["status"] !== "string") return undefined;
  const { status, error, return_value: value } = request;
  return {
    isOpen: openStates.has(status),
    isCancelled: status === "CANCELLED",
    error: errorOf(error),
    value: typeof value === "string" ? parseJson(value) : undefined,
  };
}

/** The error is text that contains JSON, or "null". */
function errorOf(error: unknown): RequestResult["error"] {
  const body = typeof error === "string" ? parseJson(error) : undefined;
  if (!isObject(body)) return undefined;
  const kind = typeof body["type"] === "string" ? body["type"].slice(0, 100) : "unknown";
  return { kind, message: typeof body["message"] === "string" ? body["message"] : "" };
}

/** Reads the list of requests, and returns those about a cluster that have not ended; undefined if it is something else. */
export function parseOpenRequests(text: string, cluster: string): KnownRequest[] | undefined {
  const list = parseJson(text);
  if (!Array.isArray(list)) return undefined;
  return list.filter(isObject).flatMap(({ request_id: id, name, status, cluster_name: about }) => {
    if (about !== cluster || !openStates.has(status)) return [];
    return isRequestId(id) && typeof name === "string" ? [{ id, name }] : [];
  });
}

/** Returns whether a value is the id of a request. */
export function isRequestId(value: unknown): value is string {
  return typeof value === "string" && /^[\w-]{1,100}$/.test(value);
}
