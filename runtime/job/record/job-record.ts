/** The record of a submitted job: what the cache file contains, and what `toJSON` returns. */
import type { Json } from "../json.js";

/** The version of the layout of records. A newer one is never read. */
export const recordVersion = 1;

/** The facts by which another program finds a submitted job again. */
export interface JobRecord {
  /** The version of the layout. */
  readonly version: number;
  /** The version of Viceroy that wrote the record. */
  readonly viceroy: string;
  /** The name of the provider. */
  readonly provider: string;
  /** The name of the job. */
  readonly name: string;
  /** The options that select what is allocated. */
  readonly spec: Json;
  /** The hash of `spec`. */
  readonly specHash: string;
  /** The random id of this run of the job. */
  readonly applyId: string;
  /** The user, as a number, who has submitted the job. */
  readonly uid: number;
  /** The time of the submission, in milliseconds since 1970. */
  readonly submittedAt: number;
  /** The folder of the files of this run. */
  readonly folder: string;
  /** The provider's description of what it has submitted; null while it is being submitted. */
  readonly allocation: Json;
  /** The command that the job runs, if it is a batch job. */
  readonly command?: readonly string[];
  /** The name of the machine that holds the hosts, in the copy of the record for a host that cannot reach it. */
  readonly heldOn?: string;
}

const fields: Readonly<
  Record<Exclude<keyof JobRecord, "spec" | "allocation" | "command" | "heldOn">, "string" | "number">
> = {
  version: "number",
  viceroy: "string",
  provider: "string",
  name: "string",
  specHash: "string",
  applyId: "string",
  uid: "number",
  submittedAt: "number",
  folder: "string",
};

/**
 * Reads a record.
 * @returns the record, or the reason why the text is none
 */
export function parseRecord(text: string): JobRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `it is not JSON, or was not written completely: ${(error as Error).message}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "it is not the record of a job";
  return recordFault(value as Record<string, unknown>) ?? (value as JobRecord);
}

/** Returns the reason why an object is not a record of this version. */
function recordFault(record: Readonly<Record<string, unknown>>): string | undefined {
  const { version, viceroy } = record;
  if (typeof version === "number" && version > recordVersion) {
    return `Viceroy ${viceroy} has written it, which is newer than this one; use that version, or another cache file`;
  }
  for (const [field, type] of Object.entries(fields)) {
    if (typeof record[field] !== type) return `it is not the record of a job: expected ${field} as a ${type}`;
  }
  const isComplete = record["spec"] !== undefined && record["allocation"] !== undefined;
  return isComplete ? undefined : "it is not the record of a job: spec or allocation is missing";
}

/** @throws TypeError if a record is malformed, or was written by a job of another class */
export function checkRecord(record: JobRecord, provider: string): void {
  const isObject = typeof record === "object" && record !== null;
  const fault = isObject ? recordFault(record as unknown as Record<string, unknown>) : "expected an object";
  if (fault !== undefined) throw new TypeError(`cannot read the record of a job: ${fault}`);
  if (record.provider === provider) return;
  throw new TypeError(`cannot read the record of a job: expected provider "${provider}", got "${record.provider}"`);
}

export function formatRecord(record: JobRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}
