/** Errors between a job and the API server of SkyPilot. Each message says what was asked, where, why it failed, and what to do. */
import { stripVTControlCharacters } from "node:util";
import type { RetryableError } from "../../retry.js";
import { isObject, parseJson } from "./plain-json.js";

/** Maximum number of characters that a message shows of what the API server has said. */
const maxShown = 2000;

/** The states of HTTP with which a server, or a proxy before it, asks for patience. */
const busyStates: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Thrown when the API server refuses a request, cannot be asked, or has failed to do what it was asked for. */
export class SkyPilotError extends Error implements RetryableError {
  override readonly name = "SkyPilotError";
  /** The status of HTTP; 0 if the API server has not answered. */
  readonly status: number;
  /** The class of SkyPilot's own error, such as `"ClusterDoesNotExist"`; empty if the error is not one of SkyPilot. */
  readonly kind: string;
  readonly retryAfter?: number;

  /** @param facts `kind`: the class of SkyPilot's own error */
  constructor(
    message: string,
    facts: { readonly status: number; readonly kind?: string; readonly retryAfter?: number | undefined },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = facts.status;
    this.kind = facts.kind ?? "";
    if (facts.retryAfter !== undefined) this.retryAfter = facts.retryAfter;
  }

  /** Whether the same request may succeed later: the API server is away, starts, or is busy. */
  get isTransient(): boolean {
    return this.status === 0 || busyStates.has(this.status);
  }
}

/** Returns text of SkyPilot without the colours of terminals, and without spaces around it. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).trim();
}

/** Returns what a message shows of a text that can be long. */
export function shownText(text: string): string {
  const plain = plainText(text);
  return plain.length <= maxShown ? plain : `${plain.slice(0, maxShown)} ... (${plain.length} characters)`;
}

/** Errors name the API server, and what the program presents to it. */
export interface Asker {
  readonly server: string;
  /** The credentials and where they are from: `the token of SKYPILOT_SERVICE_ACCOUNT_TOKEN`; undefined if there are none. */
  readonly credentials: string | undefined;
}

/** Makes the error of a request without an answer. @param what what the request is for: `launch cluster "crew"` */
export function silentError(cause: unknown, what: string, { server }: Asker): SkyPilotError {
  const advice = 'start one with "sky api start", or name another one with SKYPILOT_API_SERVER_ENDPOINT';
  const text = `cannot ${what}: the SkyPilot API server at ${server} does not answer: ${networkReason(cause)}`;
  return new SkyPilotError(`${text}; ${advice}`, { status: 0 }, { cause });
}

/** Makes the error of an answer that is not what the API server of SkyPilot says. */
export function strangeError(why: string, what: string, { server }: Asker, status = 200): SkyPilotError {
  return new SkyPilotError(`cannot ${what}: the SkyPilot API server at ${server} answers ${why}`, { status });
}

/** An answer that refuses a request. */
export interface Refusal {
  readonly status: number;
  /** The body of the answer. */
  readonly text: string;
  readonly retryAfter?: number | undefined;
}

/** Makes the error of an answer that refuses a request. */
export function refusedError({ status, text, retryAfter }: Refusal, what: string, asker: Asker): SkyPilotError {
  const { server, credentials } = asker;
  const { message, kind } = refusalOf(text, status);
  if (status === 401) {
    const how = credentials === undefined ? "wants credentials, and there are none" : `does not accept ${credentials}`;
    const advice = `log in with "sky api login -e ${server}", or set SKYPILOT_SERVICE_ACCOUNT_TOKEN`;
    return new SkyPilotError(`cannot ${what}: the SkyPilot API server at ${server} ${how}: ${message}; ${advice}`, {
      status,
    });
  }
  if (status === 503) {
    const text = `cannot ${what}: the SkyPilot API server at ${server} is not available for now: ${message}`;
    return new SkyPilotError(text, { status, retryAfter });
  }
  const said = kind === "" ? message : `${message} (${kind})`;
  return new SkyPilotError(`cannot ${what}: SkyPilot says: ${said}`, { status, kind, retryAfter });
}

/** Makes the error of an answer that leads to another address, as a proxy gives it that wants a login. */
export function redirectError(location: string, what: string, { server }: Asker, status: number): SkyPilotError {
  const advice = `log in with "sky api login -e ${server}", or name the other address with SKYPILOT_API_SERVER_ENDPOINT`;
  const where = `the SkyPilot API server at ${server} leads to ${JSON.stringify(location.slice(0, 200))} instead of an answer`;
  return new SkyPilotError(`cannot ${what}: ${where}; ${advice}`, { status });
}

/** Makes the error of SkyPilot itself, which has failed to do what a request asks for. */
export function failedError(kind: string, message: string, what: string, status: number): SkyPilotError {
  return new SkyPilotError(`cannot ${what}: SkyPilot says: ${shownText(message)} (${kind})`, { status, kind });
}

/** Reads the words of an answer that refuses a request: one of SkyPilot, of FastAPI, or of a proxy before them. */
function refusalOf(text: string, status: number): { readonly message: string; readonly kind: string } {
  const body = parseJson(text);
  if (typeof body === "string") return { message: shownText(body), kind: "" };
  const detail = isObject(body) ? (body["detail"] ?? body["message"]) : undefined;
  if (typeof detail === "string" && detail !== "") return { message: shownText(detail), kind: "" };
  if (Array.isArray(detail) && detail.length > 0) {
    return { message: shownText(detail.map(describeField).join("; ")), kind: "" };
  }
  if (isObject(detail) && typeof detail["message"] === "string") {
    const kind = typeof detail["type"] === "string" ? detail["type"].slice(0, 100) : "";
    return { message: shownText(detail["message"]), kind };
  }
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1];
  return { message: shownText(title ?? text) || `status ${status}`, kind: "" };
}

/** Returns the words about one field of a request that FastAPI does not accept: `body.task: Field required`. */
function describeField(field: unknown): string {
  if (!isObject(field)) return String(field);
  const where = Array.isArray(field["loc"]) ? field["loc"].join(".") : "request";
  return `${where}: ${String(field["msg"])}`;
}

/** Returns the words of an error of the network, which `fetch` puts into its cause, or into one of several errors. */
function networkReason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return networkReason(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return networkReason(error.cause);
  return error.message === "" ? ((error as NodeJS.ErrnoException).code ?? error.name) : error.message;
}
