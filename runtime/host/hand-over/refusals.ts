/**
 * What cannot be handed over to a controller: meshes of a driver that would end with it, and options that only the driver
 * can carry out.
 */

import { SpawnedActors } from "../../proc/mesh/spawned-actors.js";
import { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { formatExtent, regionExtent } from "../../shape/index.js";
import type { RestartPlan } from "../../supervise/restart-policy.js";
import { AttachedHosts } from "../attached/attached-hosts.js";

/** The meshes that a driver hands over. */
export interface HandedMeshes {
  readonly groups: readonly AttachedHosts[];
  readonly procs: readonly SpawnedProcs[];
  /** The published meshes. */
  readonly actors: readonly SpawnedActors[];
}

/** A controller restores meshes from the extents with which they were spawned. */
const resizedReason = "and a controller only knows the ranks with which a mesh was spawned";

/** Returns why meshes cannot be handed over: one text for each mesh or option. Empty: everything can be. */
export function refusals(runtime: ProcessRuntime, { groups, procs, actors }: HandedMeshes): string[] {
  const { root } = runtime.mainProc.proc;
  const reasons: string[] = [];
  for (const [owner, mesh] of runtime.ownership.all) {
    const what = describeMesh(mesh);
    const add = (why: string | undefined) => {
      if (why !== undefined) reasons.push(`${what} ${why}`);
    };
    if (owner !== root)
      add(`${mesh instanceof SpawnedProcs ? "belong" : "belongs"} to actor ${owner.name} of this program`);
    else if (mesh instanceof AttachedHosts) add(hostsRefusal(mesh, groups));
    else if (mesh instanceof SpawnedProcs) add(procsRefusal(mesh, procs, actors));
    else if (mesh instanceof SpawnedActors) add(actorsRefusal(mesh, procs, actors));
    else add("cannot be handed over");
  }
  const { grantCount } = runtime.memoryService;
  if (grantCount > 0) {
    const what = grantCount === 1 ? "1 buffer" : `${grantCount} buffers`;
    reasons.push(
      `${what} of registered memory (RdmaBuffer) would end with this program; drop what no actor uses any more`,
    );
  }
  if (runtime.unhandledFaults.hasHook) {
    reasons.push("the hook of onUnhandledFault cannot be handed over; remove it by onUnhandledFault(undefined)");
  }
  return reasons;
}

function describeMesh(mesh: { readonly name: string }): string {
  if (mesh instanceof AttachedHosts) return `mesh "${mesh.name}" of hosts`;
  if (mesh instanceof SpawnedProcs)
    return `processes "${mesh.name}" ${formatExtent(regionExtent(mesh.members.region))}`;
  return `mesh "${mesh.name}" of actors`;
}

function hostsRefusal(mesh: AttachedHosts, groups: readonly AttachedHosts[]): string | undefined {
  if (!groups.includes(mesh)) return "is attached, but does not belong to what is detached; stop it";
  return mesh.members.hasChanged ? `was resized, ${resizedReason}; stop it` : undefined;
}

function procsRefusal(
  mesh: SpawnedProcs,
  procs: readonly SpawnedProcs[],
  actors: readonly SpawnedActors[],
): string | undefined {
  if (!procs.includes(mesh)) return "are on this machine or on other hosts; stop them";
  if (!actors.some((published) => mesh.meshes.has(published))) {
    return "hold no actor of a published mesh; publish one, or stop them";
  }
  if (mesh.members.hasChanged) return `were resized, ${resizedReason}; spawn others of that size, and stop these`;
  if (mesh.isReplacing || mesh.restartingRanks.length > 0)
    return "are being replaced or restarted; try again afterwards";
  return checkpointsRefusal(mesh.restartPlan, "have");
}

function actorsRefusal(
  mesh: SpawnedActors,
  procs: readonly SpawnedProcs[],
  actors: readonly SpawnedActors[],
): string | undefined {
  if (!procs.some(({ meshes }) => meshes.has(mesh))) return "is not on the hosts that are detached; stop it";
  if (!actors.includes(mesh)) return "is not published; publish or stop it";
  if (mesh.members.hasChanged)
    return `was resized, ${resizedReason}; spawn another one of that size, and stop this one`;
  if (mesh.failures.waiting.length > 0) return "has actors that are being restarted; try again afterwards";
  return checkpointsRefusal(mesh.plan.restart, "has");
}

/** Checkpoints are in the memory of this program, or in a store that is an object of it. */
function checkpointsRefusal(plan: RestartPlan | undefined, verb: string): string | undefined {
  if (plan?.checkpoints === undefined) return undefined;
  return (
    `${verb} the restart option "from: checkpoint", and the checkpoints end with this program, which keeps them; spawn ` +
    "without this option what outlives the program"
  );
}
