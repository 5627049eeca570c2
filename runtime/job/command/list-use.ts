/** The use of the hosts of a job by all its drivers, for `viceroy job state --read-only`. */
import { errorMessage } from "../../../shared/text/error-message.js";
import { formatBytes } from "../../../shared/text/format-bytes.js";
import { attach } from "../attach.js";
import type { Job } from "../job.js";
import type { ContextUse, HostDescription } from "../kernel.js";
import { formatPlace } from "../mesh-spec.js";
import { withAnswerLimit } from "./answer-limit.js";

/** A host of a job, and its use. */
export interface UsedHost extends HostDescription {
  /** The host: `workers[1]`. */
  readonly host: string;
}

/** The hosts, or why they do not say how they are used. */
export type ListedUse = { readonly hosts: readonly UsedHost[] } | { readonly reason: string };

/** Asks the hosts of a job that runs who uses them, without the right to change anything. Never rejects. */
export async function listUse(job: Job): Promise<ListedUse> {
  try {
    return { hosts: await withAnswerLimit((signal) => useOf(job, signal)) };
  } catch (error) {
    return { reason: errorMessage(error) };
  }
}

async function useOf(job: Job, signal: AbortSignal): Promise<readonly UsedHost[]> {
  const meshes = await attach(job, { signal, readOnly: true });
  const described = await Promise.all(
    Object.keys(job.meshes).map(async (mesh) => {
      const hosts = await meshes[mesh]!.describe();
      return hosts.map((host, rank) => ({ host: formatPlace({ mesh, rank }), ...host }));
    }),
  );
  return described.flat();
}

/** Returns lines about the hosts: their drivers, with the processes of each, and the published meshes. */
export function useLines(hosts: readonly UsedHost[]): string[] {
  return hosts.flatMap(({ host, hostname, pid, drivers, published }) => [
    `${host}  process ${pid} on ${hostname}${published.length === 0 ? "" : `, published: ${published.join(", ")}`}`,
    ...drivers.flatMap(({ description, readOnly, attachedAt, processes, objects }) => [
      `  ${readOnly ? "viewer" : "driver"}, attached ${attachedAt.toISOString()}: ${description}`,
      ...processes.map((process) => `    process ${process.pid}  ${process.label}`),
      ...objects.map(objectsLine),
    ]),
  ]);
}

function objectsLine({ context, values, memory, memoryLimit, disk, diskLimit }: ContextUse): string {
  return (
    `    large values of context ${context}: ${values}, ${formatBytes(memory)} of ${formatBytes(memoryLimit)} in memory, ` +
    `${formatBytes(disk)} of ${formatBytes(diskLimit)} on disk`
  );
}
