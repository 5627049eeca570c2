/**
 * The clusters of a job. All machines of a cluster of SkyPilot are of one kind, so meshes share a cluster if they ask for equal machines, and
 * the others have clusters of their own.
 */

import { type HostPlace, hostPlaces } from "../../mesh-spec.js";
import { canonicalJson } from "../../record/spec-hash.js";
import type { SkyPilotMesh, SkyPilotSpec } from "../skypilot-spec.js";

/** One cluster. */
export interface ClusterPlan {
  readonly name: string;
  /** The machine of each host. */
  readonly machine: Omit<SkyPilotMesh, "hosts">;
  /** The hosts, in the order of the machines. */
  readonly places: readonly HostPlace[];
}

/** Maximum number of characters of the name of a cluster. Clouds and Kubernetes add to it, and have limits of their own. */
const maxName = 37;

/** The number of characters of the id of a run in the names of its clusters. */
const idLength = 8;

/**
 * Returns the clusters of a run in the order of the meshes. Their names follow from the run, so that they are found again by whoever
 * knows its id.
 */
export function planClusters(spec: SkyPilotSpec, applyId: string): ClusterPlan[] {
  const groups = new Map<string, { machine: ClusterPlan["machine"]; meshes: Record<string, { hosts: number }> }>();
  for (const [name, { hosts, ...machine }] of Object.entries(spec.meshes)) {
    const key = spec.clusters === "each" ? name : canonicalJson({ ...machine, spot: machine.spot ?? false });
    const group = groups.get(key) ?? { machine, meshes: {} };
    group.meshes[name] = { hosts };
    groups.set(key, group);
  }
  const names = clusterNames(spec.name, applyId, groups.size);
  return [...groups.values()].map(({ machine, meshes }, index) => ({
    name: names[index]!,
    machine,
    places: hostPlaces(meshes),
  }));
}

/** Returns names such as `train-3f2a9c01`, with a number if there are several: `train-3f2a9c01-1`. */
function clusterNames(job: string, applyId: string, count: number): string[] {
  const id = applyId.replaceAll("-", "").slice(0, idLength);
  return Array.from({ length: count }, (_, index) => {
    const end = count === 1 ? `-${id}` : `-${id}-${index + 1}`;
    return `${nameStart(job).slice(0, maxName - end.length)}${end}`;
  });
}

/** Returns the name of the job as clouds accept it: it begins with a letter, and has letters, digits and hyphens. */
function nameStart(job: string): string {
  const plain = job.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return /^[a-z]/.test(plain) ? plain : `v-${plain.replace(/^-/, "")}`;
}
