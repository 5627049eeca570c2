/** Waits for the hosts of a run, and attaches them to this program. */
import { abortable } from "../link/abortable.js";
import { controllerFilesOf, openCertificate, proofFor, whyHostsEnd } from "./driver-proof.js";
import { JobStartError, JobStartTimeoutError, PartialAllocationError } from "./errors.js";
import { gatewayOf } from "./gateway-of.js";
import type { CheckedOptions } from "./job-options.js";
import type { HostMeshes, JobRun } from "./job-run.js";
import { attachRoutedHosts, type HostFinder, type HostMesh } from "./kernel.js";
import { lastWords } from "./last-words.js";
import { formatPlace, hostPlaces } from "./mesh-spec.js";
import { codeProgress } from "./progress.js";
import type { JobProvider, ReadyHost, Report } from "./provider.js";
import { unlessRunEnds } from "./run-end.js";
import { meshLimits, startLimit } from "./start-limit.js";

/** The job whose run starts. */
interface StartedJob {
  readonly name: string;
  readonly provider: JobProvider;
  readonly options: CheckedOptions;
  /** Whether this program is the command of the run, whose output is in the log of the hosts. */
  readonly isInside: boolean;
  /** Whether the run is recorded in a cache, or was found there, so that it outlives this program. */
  readonly isRecorded: boolean;
  /** Whether this program only looks at the hosts. */
  readonly isReadOnly: boolean;
  /** Reports what happens to the job after its start. */
  readonly reportLater: Report;
}

/**
 * Waits until the hosts of a run are up, and attaches them.
 * @param missing the places of the hosts that are not up yet, as `report` is told
 * @throws JobError if a host does not come up; Error if one does not answer
 */
export async function attachRun(
  job: StartedJob,
  run: JobRun,
  report: Report,
  missing: ReadonlySet<string>,
): Promise<HostMeshes> {
  run.certificate ??= await certificateOf(job, run);
  // A run that was found may have had all its hosts before.
  for (let isFirst = run.isNew; ; isFirst = false) {
    run.losing = new AbortController();
    const { signal } = run.losing;
    // A host that was lost before is waited for. An error is final.
    const hosts = await hostsInTime(job, run, report, missing, !isFirst && bringsBack(job));
    try {
      return await attachOnce(job, run, hosts);
    } catch (error) {
      // A host that was lost meanwhile comes back, or the next attempt fails.
      if (!signal.aborted || run.endReason !== undefined || !bringsBack(job)) throw error;
    }
  }
}

/** Returns whether lost hosts come back. A program that only looks replaces nothing. */
function bringsBack({ provider, isReadOnly, options: { lostTimeout } }: StartedJob): boolean {
  return !isReadOnly && lostTimeout > 0 && provider.returned !== undefined;
}

async function attachOnce(job: StartedJob, run: JobRun, hosts: readonly ReadyHost[]): Promise<HostMeshes> {
  const { name: jobName, provider, options, isInside, isRecorded, isReadOnly } = job;
  const proof = proofFor(jobName, hosts, run.certificate?.files);
  const known = {
    hasOwnProof: Object.keys(proof).length > 0,
    isSameLog: isInside,
    // The command of a job is beside the hosts.
    choosesWay: isInside || provider.choosesWay === true,
    controllerFiles: async () => {
      const why = whyHostsEnd(isInside, isRecorded);
      if (why !== undefined) throw new Error(`the job "${jobName}" cannot keep it: ${why}`);
      return controllerFilesOf(provider, run);
    },
  };
  // The provider knows that a host is lost earlier than the driver that dials it.
  const losing = run.losing.signal;
  for (const host of hosts) run.hosts.set(formatPlace(host), host);
  const gateway = gatewayOf(() => run.hosts.values());
  const meshes: Record<string, HostMesh<"hosts">> = {};
  for (const name of Object.keys(provider.meshes)) {
    const own = hosts.filter(({ mesh }) => mesh === name);
    const sync =
      options.sync === null || isReadOnly ? {} : { sync: { ...options.sync, ...codeProgress(jobName, name, options) } };
    const finder = hostFinder(job, run, name);
    meshes[name] = attachRoutedHosts(
      own,
      { ...options.attach, name, ...proof, readOnly: isReadOnly },
      { ...known, ...sync, finder, gateway },
    );
  }
  try {
    await abortable(Promise.all(Object.values(meshes).map(({ ready }) => ready)), losing);
  } catch (error) {
    const stopped = Promise.all(Object.values(meshes).map((mesh) => mesh.stop()));
    // A host that is lost would be dialled until the end of the time limit.
    if (!losing.aborted || bringsBack(job)) await stopped;
    throw error;
  }
  return meshes;
}

/** Returns what finds lost hosts of a mesh again; undefined if they do not come back. */
function hostFinder(job: StartedJob, run: JobRun, mesh: string): HostFinder<ReadyHost> | undefined {
  const { provider, options, reportLater } = job;
  if (!bringsBack(job)) return undefined;
  /** The ranks whose loss was reported. A host that is found, and cannot be attached, is lost once. */
  const reported = new Set<number>();
  /** The provider's last reasons why lost hosts do not come back, by rank. A reason that concerns all hosts is under undefined. */
  const whys = new Map<number | undefined, string>();
  const report: Report = (event) => {
    if (event.kind === "pending" || event.kind === "starting") whys.set(event.rank, event.reason);
    if (event.kind === "host-lost" && reported.has(event.rank!)) return;
    if (event.kind === "host-lost") reported.add(event.rank!);
    reportLater(event);
  };
  return {
    limit: options.lostTimeout,
    find: async (rank, signal) => {
      const either = AbortSignal.any([signal, run.leaving.signal]);
      const lost = run.hosts.get(formatPlace({ mesh, rank }))!;
      // The job may end with its last host, and this program may learn of that first.
      const found = await unlessRunEnds(run, provider.returned!(run.record.allocation, lost, report, either));
      run.hosts.set(formatPlace(found), found);
      return found;
    },
    why: (rank) => [whys.get(rank), whys.get(undefined)].filter((text) => text !== undefined).join("; ") || undefined,
    returned: (rank) => {
      reported.delete(rank);
      whys.delete(rank);
      whys.delete(undefined);
      const { address } = run.hosts.get(formatPlace({ mesh, rank }))!;
      reportLater({ kind: "host-replaced", mesh, rank, reason: `it listens at ${address}` });
    },
  };
}

/** Opens the certificate of this program. @throws Error with the reason if the run has ended, which removes it */
async function certificateOf({ provider, isReadOnly }: StartedJob, run: JobRun): Promise<JobRun["certificate"]> {
  try {
    return await openCertificate(run.record, provider.tls, isReadOnly ? "viewer" : "driver");
  } catch (cause) {
    if (await provider.isAlive(run.record.allocation)) throw cause;
    throw new Error(await run.ended, { cause });
  }
}

/**
 * Waits until the hosts are up, for the time limits of the job and its meshes at most.
 * @param isAgain whether hosts that have failed come back
 * @throws JobStartError, JobStartTimeoutError, PartialAllocationError if they do not come up
 */
async function hostsInTime(
  { name, provider, options: { hostTimeout } }: StartedJob,
  run: JobRun,
  report: Report,
  missing: ReadonlySet<string>,
  isAgain: boolean,
): Promise<readonly ReadyHost[]> {
  const limits = meshLimits(Object.keys(provider.meshes), provider.startTimeouts, hostTimeout);
  const missingOf = (mesh: string) => [...missing].filter((place) => place.startsWith(`${mesh}[`));
  const late = startLimit(limits, (mesh) => missingOf(mesh).length > 0, report);
  const signal = AbortSignal.any([run.leaving.signal, late.signal]);
  try {
    const hosts = await provider.hosts(run.record.allocation, late.report, signal, isAgain);
    const wanted = hostPlaces(provider.meshes).length;
    if (hosts.length < wanted) throw new PartialAllocationError(name, wanted, hosts.length);
    return hosts;
  } catch (error) {
    if (run.endReason !== undefined) throw new JobStartError(name, run.endReason, { cause: error });
    if (late.passed === undefined) throw error;
    const { ms, option, meshes } = late.passed;
    const places = meshes.flatMap(missingOf);
    // A provider that knows more says why in its error.
    const isReason = error instanceof Error && error.name !== "AbortError";
    const logs = provider.logs(run.record.allocation, { follow: false, signal: run.leaving.signal });
    const reason = isReason ? error.message : await lastWords(logs, places);
    throw new JobStartTimeoutError(name, ms, places, reason, option);
  } finally {
    late.end();
  }
}
