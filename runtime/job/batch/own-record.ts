/** Finds the job in whose allocation this program runs, if it is the client of a batch job. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorMessage } from "../../../shared/text/error-message.js";
import { JobCacheError, JobStartError } from "../errors.js";
import type { JobProvider } from "../provider.js";
import { type JobRecord, parseRecord } from "../record/job-record.js";
import { specHash } from "../record/spec-hash.js";
import { batchVariable } from "./client.js";

/**
 * Returns the record of the batch job that this program is the client of, if the given job describes it; undefined if
 * this program runs outside, or the job is another one.
 * @throws JobStartError if the job has the name of the batch job and asks for something else
 * @throws JobCacheError if the record cannot be read
 */
export function ownRecord(provider: JobProvider, name: string): JobRecord | undefined {
  const file = process.env[batchVariable];
  if (file === undefined) return undefined;
  const record = readOwn(file);
  if (record.provider !== provider.kind || record.name !== name) return undefined;
  if (record.specHash !== specHash(provider.spec)) {
    throw new JobStartError(
      name,
      "it asks for something else than the batch job of its name in which this program runs; submit the batch job " +
        "again, or give the other job another name",
    );
  }
  // The client may have started before the program that has submitted the job could record what it got.
  const folder = dirname(file);
  return { ...record, folder, allocation: provider.ownAllocation(record.applyId, folder) };
}

function readOwn(file: string): JobRecord {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new JobCacheError(file, `${batchVariable} names it, but ${errorMessage(cause)}`, { cause });
  }
  const record = parseRecord(text);
  if (typeof record === "string") throw new JobCacheError(file, `${batchVariable} names it, but ${record}`);
  return record;
}
