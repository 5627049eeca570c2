/**
 * Resizes meshes: processes leave a mesh of procs in order, and actors are created on the processes that have joined it.
 * `membership.ts` decides which ranks join and leave.
 */
import { baseRank, type Extent, formatExtent, type Region, regionExtent } from "../../shape/index.js";
import { agentOf, runAsRoot } from "../proc-agents.js";
import type { ProcessRuntime } from "../process/process-runtime.js";
import { countdown, settlesWithin } from "../time-limit.js";
import type { ChildProc } from "./child-proc.js";
import type { Membership } from "./membership.js";
import { orderJoiningActors } from "./order-actors.js";
import type { ReplaceableProcs } from "./replace-child.js";
import type { SpawnedActors } from "./spawned-actors.js";
import { stopChild } from "./stop-child.js";

/** The mesh of procs that is resized. */
export interface ResizableProcs extends ReplaceableProcs {
  readonly runtime: ProcessRuntime;
  readonly members: Membership;
  /** Returns whether a process that has ended will be started again, with the actor of the mesh. */
  willRestart(rank: number, mesh: SpawnedActors): boolean;
}

/** Minimum time in ms that processes get to learn that ranks have left. */
const minAnnouncementMs = 250;

/** Returns the reason that callers of ranks see that have left. */
export function leaveReason(name: string, extent: Extent): string {
  return `mesh "${name}" was resized to ${formatExtent(extent)}`;
}

/**
 * Has processes leave. Calls to their actors are refused from now on, in this process at once and in the others as soon
 * as they know. Messages that were sent before are handled for at most `drain` ms. Never rejects.
 */
export async function leaveProcs(
  procs: ResizableProcs,
  leaving: readonly ChildProc[],
  reason: string,
  drain: number,
): Promise<void> {
  const { proc, retiring } = procs;
  const rest = countdown(proc.clock, drain);
  const handled: Promise<unknown>[] = [];
  for (const child of leaving) {
    child.isExitExpected = true;
    retiring.add(child);
  }
  for (const mesh of procs.meshes) {
    if (mesh.isStopping) continue;
    const ranks = leaving.flatMap(({ rank }) => mesh.members.rankOn(rank) ?? []);
    if (ranks.length === 0) continue;
    handled.push(mesh.isOrdered(), proc.casts.whenTaken(mesh.record.id));
    for (const rank of ranks) handled.push(announceLeave(procs, mesh, rank, reason));
  }
  await settlesWithin(proc.clock, Math.max(drain, minAnnouncementMs), Promise.all(handled));
  const options = { reason, drain: rest() };
  await runAsRoot(proc, () => Promise.all(leaving.map((child) => stopChild(child, agentOf(child.id), options, true))));
  for (const child of leaving) retiring.delete(child);
}

/** Tells all processes that an actor has left. Resolves when the messages that they sent to it before are handled. */
function announceLeave(procs: ResizableProcs, mesh: SpawnedActors, rank: number, left: string): Promise<void> {
  const { proc, runtime } = procs;
  const { proc: at, location } = mesh.record.target(rank);
  const move = { mesh: mesh.record.id, rank, proc: at, location, generation: mesh.leave(rank), drains: true, left };
  return runtime.procs.get(proc.id)!.announceMove(move, proc.id);
}

/**
 * Gives a mesh of actors the extent of the mesh of procs on which it lives. Orders the actors of the ranks that join.
 * @returns the region of the whole mesh of actors
 */
export function resizeActors(procs: ResizableProcs, mesh: SpawnedActors): Region {
  const { region } = procs.members;
  const resizing = mesh.members.plan(regionExtent(region));
  const numbers = resizing.joining.map(({ point }) => baseRank(region, point.rank));
  const incarnations = mesh.resize(resizing, numbers);
  const joining = resizing.joining.map(({ number: rank, isReturning }, i) => {
    const child = procs.childAt(numbers[i]!);
    if (isReturning) void procs.announceMove(mesh, rank, false);
    else mesh.record.setLocation(rank, { proc: child.id, location: child.location });
    if (child.exit !== undefined) {
      if (procs.willRestart(child.rank, mesh)) mesh.failures.awaitReplacement(rank, child.exit.cause);
      else mesh.failures.markLost(rank, child.exit.cause);
    }
    return { rank, incarnation: incarnations[i]!, agent: runAsRoot(procs.proc, () => agentOf(child.id)) };
  });
  if (joining.length > 0) orderJoiningActors(procs, mesh, joining);
  return resizing.region;
}
