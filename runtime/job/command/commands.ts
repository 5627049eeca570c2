/** The commands `viceroy job apply`, `state`, `kill` and `logs`. Each of them gets a loaded job and returns an exit code. */
import type { Job } from "../job.js";

/** The options of the commands. */
export interface JobCommandOptions {
  /** Whether to print JSON, one value per line. */
  readonly json: boolean;
  /** Whether `logs` waits for further lines. */
  readonly follow: boolean;
}

export interface CommandOutput {
  out(line: string): void;
  err(line: string): void;
}

/** Exit codes: done; nothing of the job runs. */
const done = 0;
const nothingRuns = 1;

type Command = (job: Job, options: JobCommandOptions, output: CommandOutput) => Promise<number>;

async function apply(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  if (!job.isCached) {
    throw new Error(`cannot apply job "${job.name}": it has no cache, so it would end with this command`);
  }
  await job.apply();
  out(
    json ? JSON.stringify({ job: job.name, applyId: job.applyId }) : `job "${job.name}" is submitted as ${job.applyId}`,
  );
  return done;
}

async function state(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  const record = await job.find();
  const meshes = Object.entries<{ readonly hosts: number }>(job.meshes);
  if (json) {
    const { applyId, submittedAt, provider } = record ?? {};
    const sizes = Object.fromEntries(meshes.map(([name, { hosts }]) => [name, hosts]));
    out(
      JSON.stringify({ job: job.name, isRunning: record !== undefined, applyId, submittedAt, provider, meshes: sizes }),
    );
  } else if (record === undefined) {
    out(`job "${job.name}" does not run`);
  } else {
    out(`job "${job.name}" of provider ${record.provider} runs as ${record.applyId}`);
    out(`submitted  ${new Date(record.submittedAt).toISOString()}`);
    const width = Math.max("mesh".length, ...meshes.map(([name]) => name.length));
    out(`${"mesh".padEnd(width)}  hosts`);
    for (const [name, { hosts }] of meshes) out(`${name.padEnd(width)}  ${hosts}`);
  }
  return record === undefined ? nothingRuns : done;
}

async function kill(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  const applyId = (await job.find())?.applyId;
  await job.kill();
  if (json) out(JSON.stringify({ job: job.name, killed: applyId ?? null }));
  else out(applyId === undefined ? `job "${job.name}" did not run` : `job "${job.name}" is killed`);
  return done;
}

async function logs(job: Job, { json, follow }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  for await (const entry of job.logs({ follow })) {
    out(json ? JSON.stringify(entry) : `${entry.mesh}[${entry.rank}] ${entry.line}`);
  }
  return done;
}

/** The commands by name. */
export const jobCommands: Readonly<Record<string, Command>> = { apply, state, kill, logs };
