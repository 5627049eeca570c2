/**
 * A process that takes the place of another one: it is started, gets the actors that live there, and from one moment on gets
 * what is sent to them; what has been sent before is left to the old one, which then ends in order. Nothing that was sent is
 * lost, and the addresses stay. The old process is told to stop only when every process that may have sent something to it has
 * said that it was handled and answered; messages of one sender to the new process wait until its earlier ones have been handled
 * by the old one. Both hold for as long as the caller of `replace` has said that the old process may take. The state of actors is
 * fresh, as after any start. The place may also be that of a process that has ended by itself, or that of an actor that has
 * failed where it was.
 */

import type { ProcConfig, SpawnOutcome } from "../../../generated/proc-agent.js";
import type { Settled } from "../../actor/call/gather-call.js";
import { ActorError } from "../../actor/errors.js";
import type { Proc } from "../../actor/proc/proc.js";
import { noReason } from "../../actor/reference/mesh-record.js";
import { rankOfBaseRank } from "../../shape/index.js";
import { errorFromCause } from "../../supervise/failure-cause.js";
import type { ActorClasses } from "../platform/platform.js";
import { agentOf, runAsRoot } from "../proc-agents.js";
import { countdown, settlesWithin } from "../time-limit.js";
import type { ChildProc } from "./child-proc.js";
import { settleSpawnOrder, spawnOrderAt, spawnOrderFor } from "./spawn-orders.js";
import type { SpawnedActors } from "./spawned-actors.js";
import { stopChild } from "./stop-child.js";

/** A process that has just been started, and what it is to be told first. */
export interface StartedChild {
  readonly child: ChildProc;
  readonly config: ProcConfig;
}

/** The mesh of procs in which one is replaced. */
export interface ReplaceableProcs {
  readonly name: string;
  readonly proc: Proc;
  readonly classes: ActorClasses;
  /** The meshes of actors that live on it. */
  readonly meshes: ReadonlySet<SpawnedActors>;
  childAt(rank: number): ChildProc;
  /** From now on this is the proc of a rank. */
  installChild(member: ChildProc): void;
  /** Processes that have been replaced and have not ended: they end with the others. */
  readonly retiring: Set<ChildProc>;
  /**
   * All processes that may know an actor learn where it lives now. Never rejects.
   * @param drains whether the process that it has left still handles what was sent to it there; then this resolves when that has
   * been done
   */
  announceMove(mesh: SpawnedActors, rank: number, drains: boolean): Promise<void>;
  /** A new process learns which actors have moved, before it reads references to them that were written before. */
  sendKnownMoves(member: ChildProc): void;
}

/** How long processes may take at least to learn of a move, in ms. */
const minAnnouncementMs = 250;

/** @throws Error if the new process or one of its actors does not come to be: then the old one goes on */
export async function replaceChild(host: ReplaceableProcs, started: StartedChild, drain: number): Promise<void> {
  const { child: member } = started;
  const { rank } = member;
  const made = new Set<SpawnedActors>();
  const belongs = (mesh: SpawnedActors) => !mesh.isStopping;
  try {
    await configureChild(host, started);
    // Meshes that are spawned meanwhile are still ordered on the old process.
    for (
      let mesh = findMissingActors(host, rank, made, belongs);
      mesh !== undefined;
      mesh = findMissingActors(host, rank, made, belongs)
    ) {
      made.add(mesh);
      const outcome = await recreateActor(host, member, mesh);
      if (outcome.status === "rejected") throw outcome.reason;
      const { failure } = outcome.value;
      if (failure !== undefined) throw new Error(failure.cause.message);
    }
    if (member.exit !== undefined) throw new Error(member.exit.cause.message);
  } catch (error) {
    discardChild(member);
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot replace rank ${rank} of mesh "${host.name}": ${why}`, { cause: error });
  }
  const old = host.childAt(rank);
  host.installChild(member);
  // It is nobody's failure any more when it ends.
  old.isExitExpected = true;
  host.retiring.add(old);
  const moved = [...made].filter((mesh) => host.meshes.has(mesh) && !mesh.isStopping);
  for (const mesh of made) if (!moved.includes(mesh)) stopActorOn(host, member, mesh);
  const drains = drain > 0 && old.exit === undefined;
  const announced = moved.map((mesh) => host.announceMove(mesh, rankOfBaseRank(mesh.region, rank)!, drains));
  await stopReplaced(host, old, announced, drain);
  host.retiring.delete(old);
}

/** Stops a process that has been replaced, when nothing is left for it to do or its time is over. */
async function stopReplaced(
  { proc }: ReplaceableProcs,
  old: ChildProc,
  announced: readonly Promise<void>[],
  drain: number,
): Promise<void> {
  const { clock } = proc;
  const rest = countdown(clock, drain);
  await settlesWithin(clock, Math.max(drain, minAnnouncementMs), Promise.all(announced));
  const options = { reason: "its process was replaced", drain: rest() };
  await runAsRoot(proc, () => stopChild(old, agentOf(old.id), options, true));
}

/**
 * The process of a rank has ended: another one gets the actors that wait for it. One of them that does not come to be has
 * failed, and the others live.
 * @throws Error if the new process does not come to be
 */
export async function restartChild(host: ReplaceableProcs, started: StartedChild): Promise<void> {
  const { child: member } = started;
  const { rank } = member;
  const made = new Map<SpawnedActors, Settled<SpawnOutcome>>();
  const waits = (mesh: SpawnedActors) => mesh.isAwaitingReplacement(rankOfBaseRank(mesh.region, rank)!);
  try {
    await configureChild(host, started);
    for (
      let mesh = findMissingActors(host, rank, made, waits);
      mesh !== undefined;
      mesh = findMissingActors(host, rank, made, waits)
    ) {
      made.set(mesh, await recreateActor(host, member, mesh));
    }
    if (member.exit !== undefined) throw errorFromCause(member.exit.cause);
  } catch (error) {
    discardChild(member);
    throw error;
  }
  host.installChild(member);
  for (const [mesh, outcome] of made) {
    const at = rankOfBaseRank(mesh.region, rank)!;
    if (!host.meshes.has(mesh) || mesh.isStopping) stopActorOn(host, member, mesh);
    else if (mesh.recordRestart(at, outcome)) void host.announceMove(mesh, at, false);
  }
}

function discardChild(member: ChildProc): void {
  member.discard({ kind: "spawn", cause: { name: "SpawnError", message: "it was to replace another, and could not" } });
}

/** A mesh that belongs on a rank and has not been made there yet. */
function findMissingActors(
  { meshes }: ReplaceableProcs,
  rank: number,
  made: Pick<ReadonlySet<SpawnedActors>, "has">,
  belongs: (mesh: SpawnedActors) => boolean,
): SpawnedActors | undefined {
  return [...meshes].find(
    (mesh) => !made.has(mesh) && rankOfBaseRank(mesh.region, rank) !== undefined && belongs(mesh),
  );
}

async function configureChild(host: ReplaceableProcs, { child: member, config }: StartedChild): Promise<void> {
  try {
    await runAsRoot(host.proc, () => agentOf(member.id).configure.callOne(config));
    host.sendKnownMoves(member);
  } catch (error) {
    if (error instanceof ActorError) throw error;
    throw new Error(member.exit?.cause.message ?? (error instanceof Error ? error.message : String(error)));
  }
}

/** Makes the actor of a mesh that belongs to a process, in its next life. Never rejects. */
export async function recreateActor(
  { proc, classes }: Pick<ReplaceableProcs, "proc" | "classes">,
  member: ChildProc,
  mesh: SpawnedActors,
): Promise<Settled<SpawnOutcome>> {
  try {
    const reference = classes.referenceOf(mesh.plan.actorClass) ?? (await classes.resolve(mesh.plan.actorClass));
    const rank = rankOfBaseRank(mesh.region, member.rank)!;
    const order = spawnOrderAt(spawnOrderFor(mesh, reference), mesh, rank, mesh.nextIncarnation(rank));
    const agent = agentOf(member.id);
    const [first] = [...(await runAsRoot(proc, () => agent.createActor.callSettled(order))).values()];
    return await settleSpawnOrder(proc, agent, mesh, order, first!);
  } catch (error) {
    return { status: "rejected", reason: error instanceof Error ? error : new Error(String(error)) };
  }
}

function stopActorOn({ proc }: ReplaceableProcs, member: ChildProc, { record }: SpawnedActors): void {
  const order = { reason: record.stopReason ?? noReason, drain: 0 };
  runAsRoot(proc, () => agentOf(member.id).stopActor.broadcast(record.id, order));
}
