/** Stops the machines of a job, for `Job.stop`. */
import { errorMessage } from "../../shared/text/error-message.js";
import { JobLostError, JobStopError } from "./errors.js";
import type { JobLife } from "./job-life.js";

/**
 * Ends what this program runs on the hosts, leaves them, and stops their machines.
 * @throws JobStopError if the machines cannot be stopped; JobLostError if nothing of the job runs
 */
export async function stopJob(life: JobLife): Promise<void> {
  const { name, provider, run } = life;
  if (provider.stop === undefined) {
    const why = `the hosts of a job of the provider "${provider.kind}" cannot be stopped and started again; end them with kill`;
    throw new JobStopError(name, why);
  }
  const record = run?.record ?? (await life.find());
  if (record === undefined) throw new JobLostError(name, "nothing of it runs");
  if (run !== undefined) await life.leave();
  try {
    await provider.stop(record.allocation);
  } catch (cause) {
    throw new JobStopError(name, errorMessage(cause), { cause });
  }
}
