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
 * On a host of an `SSHJob`, the job tells its name, its `applyId` and its meshes. Everything else rejects there with a
 * `JobElsewhereError`, because the machine that has submitted the job holds its hosts.
 *
 * @example
 * ```ts
 * import { thisJob } from "viceroy/job";
 *
 * console.log(thisJob()?.applyId ?? "not in a job");
 * ```
 *
 * @returns the job; undefined if this process runs outside of any job
 * @throws {JobCacheError} when this process runs in a job whose record cannot be read here, such as a `ProcessJob` without
 *   a cache
 */
export function thisJob(): Job<string> | undefined {
  const file = process.env[batchVariable] ?? process.env[recordVariable];
  if (file === undefined) {
    const applyId = process.env[markVariable];
    if (applyId === undefined) return undefined;
    throw new JobCacheError(`of job ${applyId}`, "the job has none; give it a file with the option cache");
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
