/** `viceroy job resize`: changes the numbers of hosts of a running job, for the programs that use it. */
import { attach } from "../attach.js";
import { JobResizeError } from "../errors.js";
import { type Job, providerOfJob } from "../job.js";
import { checkHostCount } from "../mesh-spec.js";
import type { JobProvider } from "../provider.js";
import type { JobRecord } from "../record/job-record.js";
import { checkedMesh } from "./checked-mesh.js";
import type { CommandOutput, JobCommandOptions } from "./command-options.js";

/** The exit code if nothing of the job runs. */
const nothingRuns = 1;

export async function resize(job: Job, { command, json }: JobCommandOptions, { out, err }: CommandOutput) {
  const wanted = wantedSizes(job, command);
  const record = await job.find();
  if (record === undefined) {
    err(`job "${job.name}" does not run`);
    return nothingRuns;
  }
  const provider = providerOfJob(job);
  await giveBack(job.name, provider, record, wanted);
  const larger = [...wanted].filter(([mesh, hosts]) => hosts > provider.meshes[mesh]!.hosts);
  if (larger.length > 0) {
    // This never submits a job that has ended meanwhile.
    await attach(job);
    await job.resize(Object.fromEntries(larger));
  }
  const sizes = Object.fromEntries(wanted);
  if (json) out(JSON.stringify({ job: job.name, applyId: record.applyId, meshes: sizes }));
  else for (const [mesh, hosts] of wanted) out(`${mesh} has ${hosts} host${hosts === 1 ? "" : "s"}`);
  return 0;
}

/** Ends the hosts beyond the new sizes. This program uses none of them. */
async function giveBack(
  job: string,
  provider: JobProvider,
  { allocation }: JobRecord,
  wanted: ReadonlyMap<string, number>,
): Promise<void> {
  if (provider.shrink === undefined) return;
  try {
    const now = await provider.sizes?.(allocation);
    for (const [mesh, hosts] of wanted) {
      if (now !== undefined && hosts >= now[mesh]!) continue;
      const end = await provider.shrink(allocation, mesh, hosts);
      await end();
    }
  } catch (cause) {
    throw new JobResizeError(job, (cause as Error).message, { cause });
  }
}

/** Reads arguments such as `trainers=4`. @throws TypeError, RangeError, NoSuchMeshError if one is malformed */
function wantedSizes(job: Job, words: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    words.map((word) => {
      const [, mesh, hosts] = /^([^=]+)=(\d+)$/.exec(word) ?? [];
      if (mesh === undefined) {
        throw new TypeError(
          `cannot resize job "${job.name}": expected meshes with their numbers of hosts, such as trainers=4, got ${JSON.stringify(word)}`,
        );
      }
      checkedMesh(job, mesh);
      checkHostCount(mesh, Number(hosts));
      return [mesh, Number(hosts)] as const;
    }),
  );
}
