/** The numbers of hosts of a job, as commands print them. */
import { type Job, providerOfJob } from "../job.js";
import type { JobRecord } from "../record/job-record.js";

/** Returns the numbers of hosts for which a job asks, by the names of the meshes. */
export function askedSizes(job: Job): Readonly<Record<string, number>> {
  const meshes = Object.entries<{ readonly hosts: number }>(job.meshes);
  return Object.fromEntries(meshes.map(([name, { hosts }]) => [name, hosts]));
}

/** Returns the numbers of hosts that a running job has now, or for which it asks if its provider does not know. */
export async function currentSizes(job: Job, { allocation }: JobRecord): Promise<Readonly<Record<string, number>>> {
  return { ...askedSizes(job), ...(await providerOfJob(job).sizes?.(allocation)) };
}
