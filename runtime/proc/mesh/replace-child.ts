/**
 * Replaces the process of a rank by another one, under the same addresses. The new process is started and its actors
 * are created. From one moment on it gets all new messages, while the old process handles the earlier ones and ends in
 * order. No message is lost. The old process is told to stop only when every process that may have sent messages to it
 * has confirmed that they were handled and answered. Messages of a sender to the new process wait until the old process
 * has handled the earlier messages of this sender. Both waits end after the `drain` time of the caller. The state of
 * the actors is new, or that of a checkpoint which is taken just before, as after any start. The same code restarts a process that has ended by itself, and an actor that
 * has failed in a running process.
 */

import type { Checkpoint } from "../../../generated/checkpoint.js";
import type { ProcConfig, SpawnOutcome } from "../../../generated/proc-agent.js";
import { errorMessage, toError } from "../../../shared/text/error-message.js";
import type { Settled } from "../../actor/call/gather-call.js";
import { ActorError } from "../../actor/errors.js";
import type { Proc } from "../../actor/proc/proc.js";
import { noReason } from "../../actor/reference/mesh-record.js";
import { errorFromCause } from "../../supervise/failure-cause.js";
import type { ActorClasses } from "../platform/platform.js";
import { agentOf, runAsRoot } from "../proc-agents.js";
import { countdown, settlesWithin } from "../time-limit.js";
import type { ChildProc } from "./child-proc.js";
import { sendWithCheckpoint, spawnOrderAt, spawnOrderFor } from "./spawn-orders.js";
import type { SpawnedActors } from "./spawned-actors.js";
import { stopChild } from "./stop-child.js";

/** A process that has just been started, and the configuration that it receives first. */
export interface StartedChild {
  readonly child: ChildProc;
  readonly config: ProcConfig;
}

/** The mesh of procs in which a process is replaced. */
export interface ReplaceableProcs {
  readonly name: string;
  readonly proc: Proc;
  readonly classes: ActorClasses;
  /** The meshes of actors that live on these procs. */
  readonly meshes: ReadonlySet<SpawnedActors>;
  childAt(rank: number): ChildProc;
  /** Saves the state of an actor in its present process. */
  saveActor(mesh: SpawnedActors, rank: number): Promise<Checkpoint>;
  /** Makes `child` the proc of its rank. */
  installChild(child: ChildProc): void;
  /** Processes that have been replaced and have not ended yet. They end with the mesh. */
  readonly retiring: Set<ChildProc>;
  /**
   * Announces the new location of an actor to all processes that may know the actor. Never rejects.
   * @param drains whether the previous process still handles the messages that were sent to it; if so, the promise
   * resolves when it has handled them
   */
  announceMove(mesh: SpawnedActors, rank: number, drains: boolean): Promise<void>;
  /** Tells a new process which actors have moved, before it reads references that contain their earlier locations. */
  sendKnownMoves(child: ChildProc): void;
}

/** Minimum time in ms that processes get to learn of a move. */
const minAnnouncementMs = 250;

/** The options of the replacement of a process. */
export interface Replacement {
  /** The time in ms in which the old process still handles messages. */
  readonly drain: number;
  /** Whether actors with `save` and `restore` begin with the state of their predecessors, also without a restart policy. */
  readonly keepsState: boolean;
  /** Whether the replacement is given up if the old process ends before it. */
  readonly needsOld?: boolean;
}

/** @throws Error if the new process or one of its actors cannot be started; the old process then continues */
export async function replaceChild(
  procs: ReplaceableProcs,
  started: StartedChild,
  { drain, keepsState, needsOld = false }: Replacement,
): Promise<void> {
  const { child } = started;
  const { rank } = child;
  const made = new Set<SpawnedActors>();
  const belongs = (mesh: SpawnedActors) => !mesh.isStopping;
  try {
    await configureChild(procs, started);
    // Meshes that are spawned while this loop runs are still ordered on the old process.
    for (
      let mesh = findMissingActors(procs, rank, made, belongs);
      mesh !== undefined;
      mesh = findMissingActors(procs, rank, made, belongs)
    ) {
      made.add(mesh);
      const saved = await saveForMove(procs, mesh, mesh.members.rankOn(rank)!, drain, keepsState);
      const outcome = await recreateActor(procs, child, mesh, saved);
      if (outcome.status === "rejected") throw outcome.reason;
      const { failure } = outcome.value;
      if (failure !== undefined) throw new Error(failure.cause.message);
    }
    if (child.exit !== undefined) throw new Error(child.exit.cause.message);
    const { exit } = procs.childAt(rank);
    if (needsOld && exit !== undefined) throw new Error(exit.cause.message);
  } catch (error) {
    discardChild(child);
    const why = errorMessage(error);
    throw new Error(`cannot replace rank ${rank} of mesh "${procs.name}": ${why}`, { cause: error });
  }
  const old = procs.childAt(rank);
  procs.installChild(child);
  // The old process is told to end below, so its exit is no failure.
  old.isExitExpected = true;
  procs.retiring.add(old);
  const moved = [...made].filter((mesh) => procs.meshes.has(mesh) && !mesh.isStopping);
  for (const mesh of made) if (!moved.includes(mesh)) stopActorOn(procs, child, mesh);
  const drains = drain > 0 && old.exit === undefined;
  const announced = moved.map((mesh) => procs.announceMove(mesh, mesh.members.rankOn(rank)!, drains));
  for (const mesh of moved) if (drains && mesh.plan.maxCalls !== undefined) passMessagesOn(procs, old, mesh);
  await stopReplaced(procs, old, announced, drain);
  procs.retiring.delete(old);
}

/**
 * Takes a checkpoint of an actor that is about to move, so that the new actor begins with its state.
 * @returns the state, if the mesh has no checkpoints in which the new actor would find it
 */
async function saveForMove(
  procs: ReplaceableProcs,
  mesh: SpawnedActors,
  rank: number,
  drain: number,
  keepsState: boolean,
): Promise<Checkpoint | undefined> {
  const { proc } = procs;
  const isKept = mesh.checkpoints !== undefined || (keepsState && mesh.savesState);
  if (!isKept || mesh.statusOf(rank).state !== "living") return undefined;
  const limit = Math.max(drain, minAnnouncementMs);
  const taken =
    mesh.checkpoints === undefined ? procs.saveActor(mesh, rank) : mesh.checkpoint([rank]).then(() => undefined);
  if (await settlesWithin(proc.clock, limit, taken)) return taken;
  throw new Error(`cannot checkpoint ${mesh.name}[${rank}]: its state was not stored within ${limit} ms`);
}

/** Stops a replaced process when it has handled its messages, or when `drain` ms are over. */
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
 * Installs a process at a rank whose process has ended, and creates the actors that wait for it. An actor that cannot
 * be created has failed; the others are not affected.
 * @throws Error if the new process cannot be started
 */
export async function restartChild(procs: ReplaceableProcs, started: StartedChild): Promise<void> {
  const { child } = started;
  const { rank } = child;
  const made = new Map<SpawnedActors, Settled<SpawnOutcome>>();
  const waits = (mesh: SpawnedActors) => mesh.failures.isAwaitingReplacement(mesh.members.rankOn(rank)!);
  try {
    await configureChild(procs, started);
    for (
      let mesh = findMissingActors(procs, rank, made, waits);
      mesh !== undefined;
      mesh = findMissingActors(procs, rank, made, waits)
    ) {
      made.set(mesh, await recreateActor(procs, child, mesh));
    }
    if (child.exit !== undefined) throw errorFromCause(child.exit.cause);
  } catch (error) {
    discardChild(child);
    throw error;
  }
  procs.installChild(child);
  for (const [mesh, outcome] of made) {
    const at = mesh.members.rankOn(rank)!;
    if (!procs.meshes.has(mesh) || mesh.isStopping) stopActorOn(procs, child, mesh);
    else if (mesh.recordRestart(at, outcome)) void procs.announceMove(mesh, at, false);
  }
}

function discardChild(child: ChildProc): void {
  child.discard({ kind: "spawn", cause: { name: "SpawnError", message: "it could not replace the previous process" } });
}

/** Returns a mesh that belongs on a rank and whose actor has not been created there yet. */
function findMissingActors(
  { meshes }: ReplaceableProcs,
  rank: number,
  made: Pick<ReadonlySet<SpawnedActors>, "has">,
  belongs: (mesh: SpawnedActors) => boolean,
): SpawnedActors | undefined {
  return [...meshes].find((mesh) => !made.has(mesh) && mesh.members.rankOn(rank) !== undefined && belongs(mesh));
}

async function configureChild(procs: ReplaceableProcs, { child, config }: StartedChild): Promise<void> {
  try {
    await runAsRoot(procs.proc, () => agentOf(child.id).configure.callOne(config));
    procs.sendKnownMoves(child);
  } catch (error) {
    if (error instanceof ActorError) throw error;
    throw new Error(child.exit?.cause.message ?? errorMessage(error));
  }
}

/** Creates the actor of a mesh on a process, as the next incarnation. Never rejects. */
export async function recreateActor(
  { proc, classes }: Pick<ReplaceableProcs, "proc" | "classes">,
  child: ChildProc,
  mesh: SpawnedActors,
  saved?: Checkpoint,
): Promise<Settled<SpawnOutcome>> {
  try {
    const reference = classes.referenceOf(mesh.plan.actorClass) ?? (await classes.resolve(mesh.plan.actorClass));
    const rank = mesh.members.rankOn(child.rank)!;
    const order = spawnOrderAt(spawnOrderFor(mesh, reference), mesh, rank, mesh.failures.nextIncarnation(rank));
    const agent = runAsRoot(proc, () => agentOf(child.id));
    const { outcome } = await sendWithCheckpoint(proc, agent, mesh, order, saved);
    return await outcome;
  } catch (error) {
    return { status: "rejected", reason: toError(error) };
  }
}

/** Has an actor pass on the messages that it has not begun to handle. It has been told of its move before. */
function passMessagesOn({ proc }: ReplaceableProcs, old: ChildProc, { record }: SpawnedActors): void {
  runAsRoot(proc, () => agentOf(old.id).passOn.broadcast(record.id));
}

function stopActorOn({ proc }: ReplaceableProcs, child: ChildProc, { record }: SpawnedActors): void {
  const order = { reason: record.stopReason ?? noReason, drain: 0 };
  runAsRoot(proc, () => agentOf(child.id).stopActor.broadcast(record.id, order));
}
