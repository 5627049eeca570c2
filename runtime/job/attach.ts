/** `attach`: uses the hosts of a job that runs. */
import type { AttachJobOptions } from "./call-options.js";
import { attachRunning, Job } from "./job.js";
import { jobOf } from "./job-of-record.js";
import type { JobState } from "./job-state.js";
import type { JobRecord } from "./record/job-record.js";

/**
 * Attaches the hosts of a job that runs: one that this program or another one has submitted. The job is never submitted.
 * Meshes that programs have published there are found by `lookup`, also those of a program that has detached.
 *
 * @example
 * ```ts
 * import { type LookupClass, lookup } from "viceroy";
 * import { attach, ProcessJob } from "viceroy/job";
 *
 * declare const IndexActor: LookupClass;
 * await attach(new ProcessJob({ meshes: { workers: { hosts: 2 } } }));
 * const index = await lookup("index", IndexActor);
 * ```
 *
 * @param job the job, whose run is found in its cache, or the record that `toJSON` of a running job has returned
 * @param options whether this program only looks, and what ends the waiting
 * @returns the host meshes by name
 * @throws {TypeError} when a record or an option is malformed
 * @throws {JobReadOnlyError} as a rejection, when this program has attached the job with the other value of `readOnly`
 * @throws {JobLostError} as a rejection, when nothing of the job runs, or what runs was submitted with other options
 * @throws {JobStartError} as a rejection, when a host does not answer
 * @throws {JobCacheError} as a rejection, when the cache file cannot be used
 */
export function attach<M extends string>(
  job: Job<M> | JobRecord,
  options: AttachJobOptions = {},
): Promise<JobState<M>> {
  return attachRunning(job instanceof Job ? job : (jobOf(job) as Job<M>), options);
}
