/**
 * What the real API server of SkyPilot has answered in one test, so that the test runs without it. Only what the client reads is kept: no
 * pickled objects of Python, no traces with the paths of a machine.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../recordings/", import.meta.url));

/** A request and what became of it. */
export interface Exchanged {
  /** The method, the path with its query, and the body without what is about the user. */
  readonly request: string;
  /** The answer; null if the connection ended without one. */
  readonly answer: RecordedAnswer | null;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The lines of the body. */
  readonly body: readonly string[];
  /** Whether the connection ended within the body. */
  readonly isCut?: true;
}

/** The headers that the client reads. */
const keptHeaders = [
  "x-skypilot-request-id",
  "x-skypilot-api-version",
  "x-skypilot-version",
  "location",
  "retry-after",
];

/** The fields of answers that the client does not read. */
const droppedFields = new Set([
  "entrypoint",
  "request_body",
  "object",
  "stacktrace",
  "pid",
  "user_id",
  "user_name",
  "handle",
  "credentials",
  "last_use",
  "last_creation_yaml",
  "last_creation_command",
]);

/** Returns how a recording names a request. */
export function requestKey(method: string, url: string, body: string): string {
  if (body === "") return `${method} ${url}`;
  const { env_vars: _, ...rest } = JSON.parse(body) as Record<string, unknown>;
  return `${method} ${url} ${JSON.stringify(rest)}`;
}

/** Returns an answer as a recording keeps it. */
export function keptAnswer(status: number, headers: Headers, body: string, isCut: boolean): RecordedAnswer {
  const kept = keptHeaders.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)!] as const] : []));
  const lines = keptBody(body).split("\n");
  return { status, headers: Object.fromEntries(kept), body: lines, ...(isCut && { isCut }) };
}

function keptBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body, keptValue));
  } catch {
    return body;
  }
}

function keptValue(name: string, value: unknown): unknown {
  if (droppedFields.has(name)) return undefined;
  // The result and the error of a request are JSON in a text.
  return (name === "error" || name === "return_value") && typeof value === "string" ? keptBody(value) : value;
}

export function writeRecording(name: string, exchanged: readonly Exchanged[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(name), `${JSON.stringify(exchanged, null, 2)}\n`);
}

export function readRecording(name: string): Exchanged[] {
  return JSON.parse(readFileSync(fileOf(name), "utf8")) as Exchanged[];
}

function fileOf(name: string): string {
  return path.join(folder, `${name}.json`);
}
