/** `viceroy job run`: runs a command inside the allocation of a job, and waits for its end, unless it is to be detached. */
import { constants } from "node:os";
import { errorMessage } from "../../../shared/text/error-message.js";
import { notStartedCode } from "../batch/client.js";
import { JobLostError, JobStartError } from "../errors.js";
import type { Job } from "../job.js";
import { Progress } from "../progress.js";
import type { CommandOutput, JobCommandOptions } from "./command-options.js";
import { printLogs } from "./print-logs.js";

/** The exit code of a job that has ended without its command, because somebody has cancelled it for instance. */
const ended = 1;

export async function run(
  job: Job,
  { json, detach, command }: JobCommandOptions,
  output: CommandOutput,
): Promise<number> {
  const { applyId, delivered, exited, logs } = await job.run(command);
  const submitted = `job "${job.name}" runs ${command.join(" ")} as ${applyId}`;
  if (json) output.out(JSON.stringify({ job: job.name, applyId }));
  // What the command prints has standard output for itself.
  else (detach ? output.out : output.err)(submitted);
  if (detach) {
    await delivered();
    return 0;
  }
  leaveAtSignals(job, output);
  if (!json) void showWaiting(job, output);
  await printLogs(logs({ follow: true }), { json, follow: true }, output);
  try {
    const exitCode = await exited();
    if (json) output.out(JSON.stringify({ job: job.name, applyId, exitCode }));
    return exitCode;
  } catch (error) {
    if (!(error instanceof JobStartError || error instanceof JobLostError)) throw error;
    output.err(errorMessage(error));
    return error instanceof JobStartError ? notStartedCode : ended;
  }
}

/** Shows why the scheduler lets the job wait. */
async function showWaiting(job: Job, { err }: CommandOutput): Promise<void> {
  const progress = new Progress(job.name, 0, { write: (line: string) => err(line.trimEnd()) });
  // What a single host waits for is shown by whoever waits for it.
  for await (const event of job.watch()) if (event.kind === "pending" && event.mesh === undefined) progress.add(event);
}

/** Lets a user leave with Ctrl-C. The job goes on. */
function leaveAtSignals({ name }: Job, { err }: CommandOutput): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      err(`job "${name}" goes on; "viceroy job logs --follow" shows it, and "viceroy job kill" ends it`);
      process.exit(128 + constants.signals[signal]);
    });
  }
}
