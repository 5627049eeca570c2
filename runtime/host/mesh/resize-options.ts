/** The arguments of `ProcMesh.resize` and `ProcMesh.resizeActors`, and their checks before anything is changed. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { ActorMesh, viewOf } from "../../actor/mesh/actor-mesh.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import { checkDrain, reasonSuffix } from "../../actor/reference/mesh-record.js";
import type { JoiningRank, Membership } from "../../proc/mesh/membership.js";
import type { ProcGroup } from "../../proc/mesh/proc-group.js";
import type { StartedChild } from "../../proc/mesh/replace-child.js";
import { SpawnedActors } from "../../proc/mesh/spawned-actors.js";
import { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";
import {
  checkExtent,
  checkKnownLabels,
  checkOptionNames,
  type Extent,
  formatExtent,
  type Region,
  regionExtent,
  resizedExtent,
  sameExtent,
  sameRegion,
} from "../../shape/index.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { ReplaceOptions } from "./spawn-procs-options.js";

/** Exactly one of the dimensions `D` with its new size. */
export type ResizeSpec<D extends string, All extends string = D> = D extends string
  ? { readonly [K in D]: number } & { readonly [K in Exclude<All, D>]?: never }
  : never;

/** The options of `ProcMesh.resize`, and of `HostMesh.resize`. */
export interface ResizeOptions {
  /**
   * The time in which ranks that leave still handle messages that they have been sent, in milliseconds, from 0 to 2^32 -
   * 1. Default: 5,000.
   */
  readonly drain?: number;
}

/** Starts processes of a mesh that was spawned before, with the options that it was spawned with. */
export interface ProcPlanner {
  /** The dimensions of the hosts. */
  readonly hostDimensions: readonly string[];
  /** Whether the mesh can be resized along its hosts: it was spawned on a whole mesh of attached hosts. */
  readonly followsHosts: boolean;
  /** Makes the function that starts replacement processes with the given changes. */
  replacing(changes: ReplaceOptions): (rank: number) => StartedChild;
  /** Makes the function that starts replacement processes with the code that the hosts have now. Processes that join later have it, too. */
  renewing(): (rank: number) => StartedChild;
  /**
   * Starts the processes that join the mesh.
   * @throws Error if their hosts do not belong to the mesh of hosts, or the option `cpus` is a list that is too short
   */
  joining(joining: readonly JoiningRank[]): readonly StartedChild[];
}

/** Time in ms for which ranks that leave handle messages. */
const defaultDrain = 5000;

/** @throws TypeError, RangeError for invalid arguments. @param failed the start of the error messages */
export function checkResize(
  failed: string,
  region: Region,
  sizes: unknown,
  options: ResizeOptions,
): { readonly extent: Extent; readonly drain: number } {
  checkKnownLabels(region, sizes, failed, "a size");
  const entries = Object.entries(sizes);
  if (entries.length !== 1) {
    const got = entries.length === 0 ? "none" : entries.map(([label]) => label).join(", ");
    throw new TypeError(`${failed}: expected one dimension with its new size, got ${got}`);
  }
  const [label, size] = entries[0]! as [string, unknown];
  if (!Number.isInteger(size) || (size as number) < 1) {
    const hint = size === 0 ? "; to end all ranks, stop the mesh" : "";
    const message = `${failed}: expected an integer of at least 1 for ${label}, got ${describeValue(size)}${hint}`;
    throw typeof size === "number" ? new RangeError(message) : new TypeError(message);
  }
  checkOptionNames(failed, options, ["drain"]);
  const { drain = defaultDrain } = options;
  checkDrain(failed, drain);
  return { extent: checkExtent(resizedExtent(region, label, size as number)), drain };
}

/** @throws Error if the mesh cannot be resized to `extent` by this handle, now, or by this actor */
export function checkResizable(
  procs: SpawnedProcs,
  planner: ProcPlanner,
  region: Region,
  extent: Extent,
  caller: LocalActor,
): void {
  const failed = `cannot resize mesh "${procs.name}"`;
  if (procs.stopReason !== undefined) throw new Error(`${failed}: it was stopped${reasonSuffix(procs.stopReason)}`);
  checkOwner(failed, procs.owner, caller);
  checkCurrent(procs, region, failed);
  if (procs.isReplacing) throw new Error(`${failed}: its processes are being replaced; await \`replace\` first`);
  const now = regionExtent(region);
  const label = Object.keys(extent).find((each) => extent[each] !== now[each]);
  if (label === undefined) return;
  if (planner.hostDimensions.includes(label) && !planner.followsHosts) {
    throw new Error(
      `${failed} along ${label}: its processes were spawned on a slice of a mesh of hosts, or with other dimensions`,
    );
  }
}

/** @throws TypeError, Error if the mesh of actors cannot be given the extent of the mesh of procs */
export function checkActorsResizable(
  group: ProcGroup,
  region: Region,
  actors: unknown,
  caller: LocalActor,
): { readonly procs: SpawnedProcs; readonly mesh: SpawnedActors; readonly descriptor: ActorDescriptor } {
  if (!(actors instanceof ActorMesh)) {
    throw new TypeError(`cannot resize actors: expected a mesh of actors, got ${describeValue(actors)}`);
  }
  const { record, descriptor, region: ranks, extent } = viewOf(actors);
  const failed = `cannot resize mesh "${record.name}"`;
  const { control, stopReason } = record;
  if (!(control instanceof SpawnedActors)) throw new Error(`${failed}: only its owner can`);
  checkOwner(failed, control.owner, caller);
  if (stopReason !== undefined) throw new Error(`${failed}: it was stopped${reasonSuffix(stopReason)}`);
  if (!(group instanceof SpawnedProcs) || !group.meshes.has(control)) {
    throw new Error(`${failed}: it does not live on mesh "${group.name}"`);
  }
  checkCurrent(group, region, failed);
  group.checkMembers(region, failed);
  const labels = Object.keys(record.extent);
  if (!control.isWhole(ranks) || !labels.every((label, i) => Object.keys(extent)[i] === label)) {
    throw new Error(`cannot resize a slice of mesh "${record.name}": resize the whole mesh, with its own dimensions`);
  }
  if (!group.members.isExtent(control.members.spawnedOn)) {
    throw new Error(`${failed}: it was spawned on a slice of mesh "${group.name}", or with other dimensions`);
  }
  return { procs: group, mesh: control, descriptor };
}

/** @throws Error unless the caller owns the mesh */
export function checkOwner(failed: string, owner: LocalActor, caller: LocalActor): void {
  if (owner === caller) return;
  const nameOf = (actor: LocalActor) => (actor.isRoot ? "code outside of actors" : `the actor ${actor.name}`);
  throw new Error(`${failed}: only its owner can, which is ${nameOf(owner)}, got a call from ${nameOf(caller)}`);
}

/** @throws Error unless the region is the whole mesh as it was last resized */
export function checkCurrent(
  { name, members }: { readonly name: string; readonly members: Membership },
  region: Region,
  failed: string,
): void {
  if (sameRegion(region, members.region)) return;
  const now = regionExtent(members.region);
  if (members.isExtent(region) && !sameExtent(regionExtent(region), now)) {
    throw new Error(
      `${failed}: mesh "${name}" was resized to ${formatExtent(now)} since; use the mesh that the last resize returned`,
    );
  }
  throw new Error(
    `${failed}: expected the whole mesh "${name}", ${formatExtent(now)}, got a slice or other dimensions`,
  );
}
