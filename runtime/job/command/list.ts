/**
 * `viceroy job list`: the jobs whose caches and folders of runs are under the working directory. It asks the providers what
 * runs, and submits nothing.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../../../shared/text/error-message.js";
import { recordedRuns } from "../cache/recorded-runs.js";
import { providerOf } from "../providers.js";
import { type JobRecord, parseRecord } from "../record/job-record.js";
import type { CommandOutput, JobCommandOptions } from "./command-options.js";

/** Depth of folders under the working directory that are searched. */
const maxDepth = 6;

/** Number of the newest runs beside a cache that are looked at, in addition to those in caches. */
const newestRuns = 8;

interface ListedJob {
  readonly job: string;
  readonly provider: string;
  /** `running`, `ended`, or `unknown` if the provider does not answer. */
  readonly state: string;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly submittedAt: number;
  /** The number of hosts of all meshes. */
  readonly hosts: number;
  readonly applyId: string;
  /** The folder of the files of the run. */
  readonly folder: string;
}

export async function list({ json }: JobCommandOptions, { out }: CommandOutput): Promise<number> {
  const found = await Promise.all(foldersOfRuns(process.cwd(), maxDepth).map(jobsIn));
  const jobs = found.flat().sort((left, right) => right.submittedAt - left.submittedAt);
  if (json) for (const job of jobs) out(JSON.stringify(job));
  else if (jobs.length === 0) out(`there are no jobs under ${process.cwd()}`);
  else for (const line of table(jobs)) out(line);
  return 0;
}

/** Returns the folders of runs in a folder: each is beside a cache. */
function foldersOfRuns(folder: string, depth: number): string[] {
  let names: string[];
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    // The folder belongs to another user.
    return [];
  }
  const own = names.includes("jobs") ? [join(folder, "jobs")] : [];
  if (depth === 0) return own;
  const searched = names.filter((name) => name === ".viceroy" || !/^(?:\.|node_modules$|jobs$)/.test(name));
  return [...own, ...searched.flatMap((name) => foldersOfRuns(join(folder, name), depth - 1))];
}

/** Returns the jobs of a folder of runs that run, and the last one of each name that has ended. */
async function jobsIn(folder: string): Promise<ListedJob[]> {
  const cached = cachedIds(dirname(folder));
  const records = recordedRuns(folder).filter(({ applyId }, index) => index < newestRuns || cached.has(applyId));
  const jobs = await Promise.all(records.map(listed));
  const ended = new Set<string>();
  return jobs.filter(({ job, provider, state }) => {
    if (state !== "ended") return true;
    const isFirst = !ended.has(`${provider} ${job}`);
    ended.add(`${provider} ${job}`);
    return isFirst;
  });
}

/** Returns the ids of the runs in the caches of a folder. */
function cachedIds(folder: string): ReadonlySet<string> {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const records = files.map((name) => parseRecord(readFileSync(join(folder, name), "utf8")));
  return new Set(records.flatMap((record) => (typeof record === "string" ? [] : [record.applyId])));
}

async function listed(record: JobRecord): Promise<ListedJob> {
  const { name, provider: kind, submittedAt, applyId, folder } = record;
  const known = { job: name, provider: kind, submittedAt, applyId, folder };
  let hosts = 0;
  try {
    const provider = providerOf(record, join(folder, "job.json"));
    hosts = Object.values(provider.meshes).reduce((sum, mesh) => sum + mesh.hosts, 0);
    if (await provider.isAlive(record.allocation)) return { ...known, hosts, state: "running" };
    const outcome = await provider.outcome(record.allocation);
    return { ...known, hosts, state: "ended", ...(outcome === undefined ? {} : { exitCode: outcome.exitCode }) };
  } catch (error) {
    return { ...known, hosts, state: "unknown", reason: errorMessage(error) };
  }
}

function table(jobs: readonly ListedJob[]): string[] {
  const rows = jobs.map(({ job, provider, state, exitCode, reason, submittedAt, hosts, applyId, folder }) => [
    job,
    provider,
    exitCode === undefined ? `${state}${reason === undefined ? "" : `: ${reason}`}` : `${state} (${exitCode})`,
    new Date(submittedAt).toISOString(),
    `${hosts}`,
    applyId,
    dirname(dirname(folder)),
  ]);
  const all = [["job", "provider", "state", "submitted", "hosts", "id", "folder of the cache"], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}
