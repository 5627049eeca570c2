/** Makes a job of a record, whatever class has submitted it. */
import type { Job } from "./job.js";
import { KubernetesJob } from "./kubernetes/kubernetes-job.js";
import { LocalJob } from "./local/local-job.js";
import { ProcessJob } from "./process/process-job.js";
import { checkRecord, type JobRecord } from "./record/job-record.js";
import { SlurmJob } from "./slurm/slurm-job.js";
import { SSHJob } from "./ssh/ssh-job.js";

const classes: Readonly<Record<string, { fromJSON(record: JobRecord): Job<string> }>> = {
  kubernetes: KubernetesJob,
  local: LocalJob,
  process: ProcessJob,
  slurm: SlurmJob,
  ssh: SSHJob,
};

/** @throws TypeError if the record is malformed, or this version has no such class of jobs */
export function jobOf(record: JobRecord): Job<string> {
  const { provider = "" } = (record ?? {}) as Partial<JobRecord>;
  checkRecord(record, provider);
  const jobClass = Object.hasOwn(classes, provider) ? classes[provider] : undefined;
  if (jobClass !== undefined) return jobClass.fromJSON(record);
  throw new TypeError(
    `cannot read the record of a job: Viceroy ${record.viceroy} has written it for the provider "${provider}", which is not known here`,
  );
}
