/**
 * `viceroy job exec`: runs a command on hosts of a running job, and prints what it prints there. The daemons of the hosts
 * run it, so it works for all providers. It ends with this program.
 */
import { attach } from "../attach.js";
import type { Job } from "../job.js";
import type { HostMesh } from "../kernel.js";
import { LineSplitter } from "../line-splitter.js";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import { checkedMesh } from "./checked-mesh.js";
import type { CommandOutput, JobCommandOptions } from "./command-options.js";

/** The exit code if nothing of the job runs. */
const nothingRuns = 1;

export async function exec(job: Job, options: JobCommandOptions, output: CommandOutput): Promise<number> {
  const places = chosenPlaces(job, options);
  if ((await job.find()) === undefined) {
    output.err(`job "${job.name}" does not run`);
    return nothingRuns;
  }
  // Unlike `state`, this never submits a job that has ended meanwhile.
  const meshes = await attach(job);
  const codes = places.map((place) => runOn(meshes[place.mesh]!, place, options, output));
  // The worst of the exit codes is that of the command as a whole.
  return Math.max(...(await Promise.all(codes)));
}

/** @throws NoSuchMeshError, RangeError if the job has no such hosts */
function chosenPlaces(job: Job, { mesh, rank }: JobCommandOptions): readonly HostPlace[] {
  const names = checkedMesh(job, mesh);
  const places = hostPlaces(job.meshes).filter((place) => names.includes(place.mesh));
  const chosen = places.filter((place) => rank === undefined || place.rank === rank);
  if (chosen.length > 0) return chosen;
  const last = Math.max(...places.map((place) => place.rank));
  throw new RangeError(`cannot run a command in job "${job.name}": expected a rank from 0 to ${last}, got ${rank}`);
}

/** Runs the command on one host. @returns its exit code */
async function runOn(
  hosts: HostMesh<"hosts">,
  place: HostPlace,
  { command, json }: JobCommandOptions,
  { out, err }: CommandOutput,
): Promise<number> {
  const name = formatPlace(place);
  const printer = (stream: "stdout" | "stderr") =>
    new LineSplitter((line) => {
      if (json) out(JSON.stringify({ ...place, stream, line }));
      else (stream === "stdout" ? out : err)(`${name} ${line}`);
    });
  const printers = { stdout: printer("stdout"), stderr: printer("stderr") };
  const events = hosts.commandsAt(place.rank).start({ command: [...command], env: {} }, new AbortController().signal);
  for await (const { stdout, stderr, exitCode, error } of events) {
    if (stdout !== undefined) printers.stdout.add(stdout);
    if (stderr !== undefined) printers.stderr.add(stderr);
    if (exitCode === undefined) continue;
    for (const each of Object.values(printers)) each.end();
    if (json) out(JSON.stringify({ ...place, exitCode, error }));
    else if (error !== undefined) err(`${name} cannot run ${JSON.stringify(command[0])}: ${error}`);
    return exitCode;
  }
  throw new Error(`cannot run a command on ${name}: the host has ended`);
}
