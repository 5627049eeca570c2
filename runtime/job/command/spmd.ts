/** `viceroy job spmd`: runs a script of one process per rank on the hosts of a job, and waits for its end. */
import { constants } from "node:os";
import { notStartedCode } from "../batch/client.js";
import { JobLostError, JobStartError } from "../errors.js";
import type { Job } from "../job.js";
import type { SpmdRun } from "../spmd/spmd-options.js";
import type { CommandOutput, JobCommandOptions } from "./command-options.js";
import { FoldingPrinter } from "./folding-printer.js";

/** The exit code if a host has ended. */
const lost = 1;

export async function spmd(job: Job, options: JobCommandOptions, output: CommandOutput): Promise<number> {
  const { json, mesh = Object.keys(job.meshes)[0]!, procs, gpusPerProc, maxRestarts, command } = options;
  const printers = { stdout: new FoldingPrinter(output.out), stderr: new FoldingPrinter(output.err) };
  const run = await job.spmd(
    {
      ...(options.mesh !== undefined && { mesh }),
      ...(procs !== undefined && { procs }),
      ...(gpusPerProc !== undefined && { gpusPerProc }),
      ...(maxRestarts !== undefined && {
        restart: { policy: "on-failure", maxRestarts, within: Number.POSITIVE_INFINITY },
      }),
      stdio: (line, { rank, stream }) => {
        if (json) output.out(JSON.stringify({ rank, stream, line }));
        else printers[stream].add({ mesh, rank, line });
      },
    },
    command,
  );
  const forget = endAtSignals(run);
  const exitCode = await codeOf(run);
  forget();
  for (const printer of Object.values(printers)) printer.flush();
  if (json) output.out(JSON.stringify({ job: job.name, exitCode, failures: run.failures }));
  else for (const { reason } of run.failures) output.err(reason);
  // The hosts of a job that is cached go on, and are free for the next run.
  if (!job.isCached) await job.kill();
  return exitCode;
}

/** The reason is in the list of failures. */
async function codeOf(run: SpmdRun): Promise<number> {
  try {
    return await run.exited();
  } catch (error) {
    if (!(error instanceof JobStartError || error instanceof JobLostError)) throw error;
    return error instanceof JobStartError ? notStartedCode : lost;
  }
}

/** Ends the processes with Ctrl-C; the second time, without their grace. @returns a function that no longer does */
function endAtSignals(run: SpmdRun): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let isEnding = false;
  const end = (signal: NodeJS.Signals): void => {
    // What runs on the hosts ends with this process.
    if (isEnding) process.exit(128 + constants.signals[signal]);
    isEnding = true;
    void run.kill();
  };
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}
