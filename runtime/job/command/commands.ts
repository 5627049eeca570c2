/** The commands `viceroy job apply`, `state`, `kill`, `logs` and so on, and `viceroy repl --job`. Each of them gets a loaded job and returns an exit code. */
import type { ClientOutcome } from "../batch/client.js";
import { type Job, providerOfJob } from "../job.js";
import { formatPlace } from "../mesh-spec.js";
import type { JobRecord } from "../record/job-record.js";
import type { SkyPilotSpec } from "../skypilot/skypilot-spec.js";
import type { CommandOutput, JobCommandOptions } from "./command-options.js";
import { exec } from "./exec.js";
import { actorTable, type ListedActors, listActors } from "./list-actors.js";
import { type ListedUse, listUse, useLines } from "./list-use.js";
import { port } from "./port.js";
import { printLogs } from "./print-logs.js";
import { resize } from "./resize.js";
import { run } from "./run.js";
import { askedSizes, currentSizes } from "./sizes.js";
import { spmd } from "./spmd.js";
import { sync } from "./sync.js";

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

async function state(job: Job, options: JobCommandOptions, output: CommandOutput): Promise<number> {
  const code = await printState(job, options, output);
  if (code === done && options.watch) await printEvents(job, options, output);
  return code;
}

/** Prints what happens to a job that runs, until it has ended. */
async function printEvents(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<void> {
  if (!job.active) return;
  for await (const { kind, mesh, rank, reason, at } of job.watch()) {
    if (json) out(JSON.stringify({ event: kind, mesh, rank, reason, at }));
    else {
      const place = mesh === undefined || rank === undefined ? "" : ` ${formatPlace({ mesh, rank })}`;
      out(`${new Date(at).toISOString()}  ${kind}${place}: ${reason}`);
    }
  }
}

async function printState(job: Job, { json, readOnly }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  const record = await job.find();
  if (record === undefined) {
    const last = job.lastRecord();
    const outcome = last?.command === undefined ? undefined : await job.outcomeOf(last);
    out(
      json
        ? stateJson(job, undefined, outcome, undefined, askedSizes(job))
        : `job "${job.name}" does not run${describeOutcome(outcome)}`,
    );
    return nothingRuns;
  }
  // A program that only looks calls no actors.
  const use = readOnly === true ? await listUse(job) : undefined;
  const listed = use === undefined ? await listActors(job) : undefined;
  const sizes = await currentSizes(job, record);
  const facts = await job.factsOf(record);
  if (json) {
    out(stateJson(job, record, undefined, listed, sizes, use, facts));
    return done;
  }
  out(`job "${job.name}" of provider ${record.provider} runs as ${record.applyId}`);
  out(`submitted  ${new Date(record.submittedAt).toISOString()}`);
  if (record.command !== undefined) out(`command    ${record.command.join(" ")}`);
  for (const fact of facts) out(fact);
  const meshes = Object.entries(sizes);
  const width = Math.max("mesh".length, ...meshes.map(([name]) => name.length));
  out(`${"mesh".padEnd(width)}  hosts`);
  for (const [name, hosts] of meshes) out(`${name.padEnd(width)}  ${hosts}`);
  if (use !== undefined && "reason" in use) out(`the use of its hosts is not known: ${use.reason}`);
  else for (const line of useLines(use?.hosts ?? [])) out(line);
  if (listed === undefined) return done;
  if ("reason" in listed) out(`its detached actors are not known: ${listed.reason}`);
  else for (const line of actorTable(listed.actors)) out(line);
  return done;
}

function stateJson(
  job: Job,
  record: JobRecord | undefined,
  outcome: ClientOutcome | undefined,
  listed: ListedActors | undefined,
  sizes: Readonly<Record<string, number>>,
  use?: ListedUse,
  facts: readonly string[] = [],
): string {
  const { applyId, submittedAt, provider, command } = record ?? {};
  const isRunning = record !== undefined;
  return JSON.stringify({
    job: job.name,
    isRunning,
    applyId,
    submittedAt,
    provider,
    command,
    ...outcome,
    ...(facts.length === 0 ? {} : { facts }),
    meshes: sizes,
    ...(listed !== undefined && ("reason" in listed ? { actorsUnknown: listed.reason } : { actors: listed.actors })),
    ...(use !== undefined && ("reason" in use ? { useUnknown: use.reason } : use)),
  });
}

function describeOutcome(outcome: ClientOutcome | undefined): string {
  if (outcome === undefined) return "";
  const { exitCode, error = `its last command has ended with exit code ${exitCode}`, scheduler } = outcome;
  return `; ${error}${scheduler === undefined ? "" : `; ${scheduler}`}`;
}

async function kill(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  const applyId = (await job.find())?.applyId;
  await job.kill();
  // A command of a batch job ends its own processes only.
  if ((await job.find()) !== undefined) throw new Error(`cannot kill job "${job.name}": this command runs inside it`);
  if (json) out(JSON.stringify({ job: job.name, killed: applyId ?? null }));
  else out(applyId === undefined ? `job "${job.name}" did not run` : `job "${job.name}" is killed`);
  return done;
}

async function stop(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  await job.stop();
  out(json ? JSON.stringify({ job: job.name, stopped: true }) : `the machines of job "${job.name}" are stopped`);
  return done;
}

async function logs(job: Job, { json, follow }: JobCommandOptions, output: CommandOutput): Promise<number> {
  await printLogs(job.logs({ follow }), { json, follow }, output);
  return done;
}

/** Prints the objects of a job of Kubernetes, or the tasks of one of SkyPilot. The code about either is loaded for its jobs only. */
async function manifest(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  const { kind, spec } = providerOfJob(job);
  if (kind === "skypilot") {
    const { taskManifest } = await import("../skypilot/task/task-manifest.js");
    const { printDocuments } = await import("../kubernetes/manifest/print-yaml.js");
    const tasks = taskManifest(spec as unknown as SkyPilotSpec);
    out(json ? JSON.stringify(tasks) : printDocuments(tasks).trimEnd());
    return done;
  }
  const { manifestObjects, printObjects } = await import("./kubernetes-manifest.js");
  out(printObjects(manifestObjects(job), json));
  return done;
}

/** Prints the permissions that a driver of a job of Kubernetes needs, and those of the pod of its command. */
async function rbac(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  const { printObjects, rolesOf } = await import("./kubernetes-manifest.js");
  out(printObjects(rolesOf(job), json));
  return done;
}

/** Prints which cluster a job of Kubernetes uses, and as whom. */
async function context(job: Job, { json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  const { contextOf } = await import("./kubernetes-context.js");
  const found = await contextOf(job);
  if (json) out(JSON.stringify(found));
  else for (const [name, value] of Object.entries(found)) out(`${name.padEnd(10)}${value}`);
  return done;
}

/** A prompt with the job attached. */
async function prompt(job: Job, options: JobCommandOptions, output: CommandOutput): Promise<number> {
  const { repl } = await import("./repl/repl.js");
  return repl(job, options, output);
}

/** The commands by name. */
export const jobCommands: Readonly<Record<string, Command>> = {
  apply,
  state,
  kill,
  stop,
  logs,
  run,
  exec,
  port,
  spmd,
  sync,
  resize,
  manifest,
  rbac,
  context,
  repl: prompt,
};
