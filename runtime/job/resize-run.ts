/** Gives a running job further hosts, and attaches them. */
import { checkOptionNames } from "../shape/check-options.js";
import { JobResizeError } from "./errors.js";
import type { CheckedOptions } from "./job-options.js";
import type { HostMeshes, JobRun } from "./job-run.js";
import { joinHosts } from "./kernel.js";
import { checkHostCount, formatPlace } from "./mesh-spec.js";
import type { JobProvider, Report } from "./provider.js";
import { formatRecord } from "./record/job-record.js";
import { meshLimits, type StartLimit, startLimit } from "./start-limit.js";

/** The job whose run grows. */
interface GrownJob {
  readonly name: string;
  readonly provider: JobProvider;
  readonly options: CheckedOptions;
}

/**
 * Resizes meshes of hosts.
 * @param sizes the new numbers of hosts by the names of the meshes
 * @returns all meshes of the run: those that have grown with their new extents
 * @throws JobResizeError if the provider cannot, or a host does not come up; nothing has changed then
 * @throws TypeError, RangeError if a size is malformed
 */
export async function resizeRun(
  { name: job, provider, options }: GrownJob,
  run: JobRun,
  meshes: HostMeshes,
  sizes: Readonly<Record<string, number | undefined>>,
  report: Report,
): Promise<HostMeshes> {
  checkOptionNames(`cannot resize job "${job}"`, sizes, Object.keys(meshes));
  const wanted = Object.entries(sizes).filter((entry): entry is [string, number] => entry[1] !== undefined);
  for (const [mesh, hosts] of wanted) {
    checkHostCount(mesh, hosts);
    const { size } = meshes[mesh]!;
    const largest = provider.largest?.[mesh]?.hosts ?? Number.POSITIVE_INFINITY;
    if (hosts > largest) {
      const why = `mesh "${mesh}" has machines for ${largest} host${largest === 1 ? "" : "s"}, got ${hosts}`;
      throw new JobResizeError(
        job,
        `${why}; name further machines in the option spare of the mesh, and submit the job again`,
      );
    }
    if (hosts >= size || provider.shrink !== undefined) continue;
    const advice = `leave hosts with ${mesh}.resize({ hosts: ${hosts} }); they stay until the job ends`;
    throw new JobResizeError(job, `mesh "${mesh}" has ${size} hosts, and a job gives none back; ${advice}`);
  }
  const places = wanted.flatMap(([mesh, hosts]) => {
    const { size } = meshes[mesh]!;
    return Array.from({ length: hosts - size }, (_, i) => ({ mesh, rank: size + i }));
  });
  const smaller = wanted.filter(([mesh, hosts]) => hosts < meshes[mesh]!.size);
  if (places.length === 0 && smaller.length === 0) return meshes;
  if (provider.grow === undefined) {
    const advice = "submit another job for them, with a cache of its own, and use its meshes beside those of this one";
    throw new JobResizeError(job, `a job of ${provider.kind} gets no further hosts while it runs; ${advice}`);
  }
  const growing = new Set(places.map(({ mesh }) => mesh));
  const limits = meshLimits(Object.keys(meshes), provider.startTimeouts, options.hostTimeout);
  const late = startLimit(limits, (mesh) => growing.has(mesh), report);
  const told = provider.growsByQueue === true ? late.report : report;
  try {
    const signal = AbortSignal.any([run.leaving.signal, late.signal]);
    const { allocation } = run.record;
    const growth = { ...options, record: formatRecord({ ...run.record, allocation: null }) };
    const ends = await Promise.all(smaller.map(([mesh, hosts]) => provider.shrink!(allocation, mesh, hosts)));
    const hosts = places.length === 0 ? [] : await provider.grow(allocation, places, growth, told, signal);
    for (const host of hosts) run.hosts.set(formatPlace(host), host);
    const grown = { ...meshes };
    for (const [mesh, size] of smaller) grown[mesh] = meshes[mesh]!.resize({ hosts: size });
    for (const mesh of new Set(hosts.map((host) => host.mesh))) {
      const joining = hosts.filter((host) => host.mesh === mesh);
      grown[mesh] = joinHosts(meshes[mesh]!, joining);
    }
    await Promise.all(Object.values(grown).map(({ ready }) => ready));
    await Promise.all(ends.map((end) => end()));
    return grown;
  } catch (cause) {
    throw new JobResizeError(job, failureReason(late, cause as Error), { cause });
  } finally {
    late.end();
  }
}

/** Returns why hosts did not come up. A provider that knows more than that their time is over says so in its error. */
function failureReason({ passed }: StartLimit, { name, message }: Error): string {
  if (passed === undefined) return message;
  const limit = `the hosts were not up within ${passed.ms} ms (${passed.option})`;
  return name === "AbortError" ? limit : `${limit}: ${message}`;
}
