/**
 * `viceroy job sync`: brings the code of the program to the hosts of a running job, so that the next run of the program finds it
 * there.
 */
import { attach } from "../attach.js";
import type { Job } from "../job.js";
import { Progress } from "../progress.js";
import { checkedMesh } from "./checked-mesh.js";
import type { CommandOutput, JobCommandOptions } from "./command-options.js";

/** The exit code if nothing of the job runs. */
const nothingRuns = 1;

export async function sync(job: Job, options: JobCommandOptions, { out, err }: CommandOutput): Promise<number> {
  const { json, mesh, exclude = [], root = [] } = options;
  const names = checkedMesh(job, mesh);
  if ((await job.find()) === undefined) {
    err(`job "${job.name}" does not run`);
    return nothingRuns;
  }
  // Unlike `state`, this never submits a job that has ended meanwhile.
  const meshes = await attach(job);
  const progress = new Progress(job.name, 0, json ? undefined : process.stderr);
  for (const name of names) {
    const report = await meshes[name]!.sync({
      ...job.syncOptions,
      ...(root.length === 0 ? {} : { roots: root }),
      ...(exclude.length === 0 ? {} : { exclude }),
      onProgress: (state) => progress.code(name, state),
    });
    progress.end();
    if (json) out(JSON.stringify({ mesh: name, ...report }));
    else if (report.hosts.length === 0) out(`${name}: its host is this machine, which has the code`);
    else {
      const fetched = report.hosts.reduce((sum, { bytes }) => sum + bytes, 0);
      const hosts = `${report.hosts.length} host${report.hosts.length === 1 ? "" : "s"}`;
      const size = `${report.files} files, ${megabytes(report.bytes)}`;
      out(`${name}: ${size} on ${hosts}, which have fetched ${megabytes(fetched)}; tree ${report.tree.slice(0, 12)}`);
    }
  }
  return 0;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
