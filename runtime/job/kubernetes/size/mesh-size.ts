/**
 * The size of a mesh, as the Job of the mesh contains it, and how drivers change it. A driver that grows a mesh notes in the Job which size it waits
 * for, so that another driver whose growth fails leaves these hosts. All of this is in one object, whose version the API server compares, so that
 * drivers need no lock.
 */
import type { ApiObject } from "../api/kubernetes-api.js";
import { growthsAnnotation, keptAnnotation } from "../manifest/layout.js";

/** The size of a mesh. */
export interface MeshSize {
  /** The number of pods that the Job keeps. */
  readonly hosts: number;
  /** The number of hosts that stay if all growths fail. */
  readonly kept: number;
  /** The sizes that drivers wait for, by the ids of their growths. Those of killed drivers stay until the mesh gets smaller. */
  readonly growths: Readonly<Record<string, number>>;
}

/** The fields of a Job that tell its size. */
interface JobFields {
  readonly spec?: { readonly completions?: number; readonly suspend?: boolean };
  readonly status?: { readonly completedIndexes?: string; readonly failedIndexes?: string };
}

/** Reads the size of a mesh. @param asked the number of hosts for which the job was submitted */
export function sizeOf(job: ApiObject, asked: number): MeshSize {
  const { [keptAnnotation]: kept = "", [growthsAnnotation]: growths = "" } = job.metadata.annotations ?? {};
  return {
    hosts: (job as JobFields).spec?.completions ?? asked,
    kept: /^\d{1,6}$/.test(kept) ? Number(kept) : asked,
    growths: parseGrowths(growths),
  };
}

/** Returns the change of a Job that gives it a size. The API server refuses it if the Job has changed since it was read. */
export function sizeChange({ metadata }: ApiObject, { hosts, kept, growths }: MeshSize): object {
  const isGrowing = Object.keys(growths).length > 0;
  return {
    metadata: {
      resourceVersion: metadata.resourceVersion,
      annotations: {
        [keptAnnotation]: String(kept),
        [growthsAnnotation]: isGrowing ? JSON.stringify(growths) : null,
      },
    },
    // Kubernetes allows a change of completions only together with the same change of parallelism.
    spec: { completions: hosts, parallelism: hosts },
  };
}

/** Returns the size when a growth begins. */
export function begunGrowth(size: MeshSize, id: string, hosts: number): MeshSize {
  return { ...size, hosts: Math.max(size.hosts, hosts), growths: { ...size.growths, [id]: hosts } };
}

/** Returns the size when the hosts of a growth are up; undefined if the mesh has got smaller meanwhile. */
export function finishedGrowth(size: MeshSize, id: string, hosts: number): MeshSize | undefined {
  // The answer to an earlier attempt can be lost.
  const isFinished = size.growths[id] === undefined;
  if (size.hosts < hosts || (isFinished && size.kept < hosts)) return undefined;
  return { ...size, kept: Math.max(size.kept, hosts), growths: without(size.growths, id) };
}

/** Returns the size when a growth has failed: what is kept, and what other drivers still wait for. */
export function failedGrowth(size: MeshSize, id: string): MeshSize {
  if (size.growths[id] === undefined) return size;
  const growths = without(size.growths, id);
  return { ...size, hosts: Math.min(size.hosts, Math.max(size.kept, ...Object.values(growths))), growths };
}

/** Returns the size when a driver gives back all hosts from a rank on. Growths beyond it fail. */
export function shrunk({ growths, ...size }: MeshSize, hosts: number): MeshSize {
  const smaller = Math.min(size.hosts, hosts);
  const others = Object.entries(growths).filter(([, wanted]) => wanted <= smaller);
  return { hosts: smaller, kept: smaller, growths: Object.fromEntries(others) };
}

/** Ranks whose hosts have ended for good. */
export interface EndedRanks {
  /** The highest of them; -1 if there is none. */
  readonly last: number;
  has(rank: number): boolean;
}

/**
 * Returns the ranks for which the Job makes no further pod: it has noted that their pods have ended by themselves, or have failed for good. It
 * forgets those that are not below its size.
 */
export function endedRanks(job: ApiObject): EndedRanks {
  const { completedIndexes = "", failedIndexes = "" } = (job as JobFields).status ?? {};
  const ranges = `${completedIndexes},${failedIndexes}`.split(",").flatMap((range) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    return first === undefined ? [] : [{ first: Number(first), last: Number(last) }];
  });
  return {
    last: Math.max(-1, ...ranges.map(({ last }) => last)),
    has: (rank) => ranges.some(({ first, last }) => rank >= first && rank <= last),
  };
}

/** Returns whether a queue, or somebody, holds the pods of a Job. */
export function isSuspended(job: ApiObject): boolean {
  return (job as JobFields).spec?.suspend === true;
}

function without(growths: MeshSize["growths"], id: string): MeshSize["growths"] {
  const { [id]: _, ...others } = growths;
  return others;
}

/** Reads what drivers have written, and nothing else. */
function parseGrowths(text: string): Record<string, number> {
  try {
    const entries = Object.entries(JSON.parse(text) as object);
    return Object.fromEntries(entries.filter(([, hosts]) => Number.isSafeInteger(hosts) && hosts > 0));
  } catch {
    return {};
  }
}
