/** Submits a job with a command that runs inside its allocation, for `Job.run`. */
import { abortable } from "../../link/abortable.js";
import type { RunOptions } from "../call-options.js";
import { JobLostError, JobStartError, JobSubmitError } from "../errors.js";
import type { JobLife } from "../job-life.js";
import type { JobRecord } from "../record/job-record.js";
import { type BatchRun, holding } from "./batch-run.js";
import { checkClient } from "./check-client.js";

/**
 * @throws TypeError if the command or an option is malformed
 * @throws JobSubmitError if the provider refuses the job, or the job cannot run a command now
 * @throws JobCacheError if the cache file cannot be used
 */
export async function runBatch(life: JobLife, command: readonly string[], options: RunOptions): Promise<BatchRun> {
  const client = checkClient(command, options);
  if (life.isInside) throw new JobSubmitError(life.name, "this program runs inside it already");
  if (life.cache === undefined) {
    throw new JobSubmitError(life.name, "it has no cache, by which a command could be found again");
  }
  const run = await abortable(life.appliedWith(client), options.signal);
  const { record, ended } = run;
  let failure: unknown;
  const delivered = life.deliver(run, client).catch(async (error: unknown) => {
    failure = error;
    await life.kill();
    throw error;
  });
  delivered.catch(() => {});
  const exited = ended.then((reason) => {
    if (failure !== undefined) throw failure;
    return exitCode(life, record, reason);
  });
  exited.catch(() => {});
  return {
    applyId: record.applyId,
    command: client.command,
    delivered: () => holding(delivered),
    exited: () => holding(exited),
    logs: (logOptions) => life.readLogs(record, logOptions),
    kill: () => life.kill(),
  };
}

async function exitCode({ name, provider }: JobLife, record: JobRecord, reason: string): Promise<number> {
  const outcome = await provider.outcome(record.allocation);
  if (outcome?.error !== undefined) throw new JobStartError(name, outcome.error);
  if (outcome === undefined) throw new JobLostError(name, `it has ended without its command: ${reason}`);
  return outcome.exitCode;
}
