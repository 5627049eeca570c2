/** `thisJob`: the job in whose allocation a process runs. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorMessage } from "../../shared/text/error-message.js";
import { batchVariable, recordVariable } from "./batch/client.js";
import { JobCacheError } from "./errors.js";
import type { Job } from "./job.js";
import { jobOf } from "./job-of-record.js";
import { markVariable } from "./keeper/marked-processes.js";
import { providerOf } from "./providers.js";
import { parseRecord } from "./record/job-record.js";

/**
 * Returns the job in whose allocation this code runs: in an actor on one of its hosts, or in the command of a batch job.
 * In the command of a batch job, `kill` of the job ends the program's own processes only; elsewhere, it ends the job.
 *
 * @example
 * ```ts
 * import { thisJob } from "viceroy/job";
 *
 * console.log(thisJob()?.applyId ?? "not in a job");
 * ```
 *
 * @returns the job; undefined if this process runs outside of any job
 * @throws {JobCacheError} when this process runs in a job whose record cannot be read here: a job without a cache, or
 *   whose folder is on another machine, as with `SSHJob`
 */
export function thisJob(): Job<string> | undefined {
  const file = process.env[batchVariable] ?? process.env[recordVariable];
  if (file === undefined) {
    const applyId = process.env[markVariable];
    if (applyId === undefined) return undefined;
    throw new JobCacheError(`of job ${applyId}`, "it has none, or it is on another machine than this process");
  }
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new JobCacheError(file, `it is not on this machine: ${errorMessage(cause)}`, { cause });
  }
  const record = parseRecord(text);
  if (typeof record === "string") throw new JobCacheError(file, record);
  const folder = dirname(file);
  // A host can be up before the program that has submitted the job has recorded what it got.
  const allocation = record.allocation ?? providerOf(record, file).ownAllocation(record.applyId, folder);
  return jobOf({ ...record, folder, allocation });
}
