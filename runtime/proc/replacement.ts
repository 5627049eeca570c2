/**
 * A process that takes the place of another one: it is started, gets the actors that live there, and from one moment on gets
 * what is sent to them; what has been sent before is left to the old one, which then ends in order. Nothing that was sent is
 * lost, and the addresses stay. The old process is told to stop only when every process that may have sent something to it has
 * said that it was handled and answered; messages of one sender to the new process wait until its earlier ones have been handled
 * by the old one. Both hold for as long as the caller of `replace` has said that the old process may take. The state of actors is
 * fresh, as after any start. The place may also be that of a process that has ended by itself, or that of an actor that has
 * failed where it was.
 */

import type { ProcConfig, SpawnOutcome } from "../../generated/proc-agent.js";
import { noReason } from "../actor/address.js";
import { ActorError } from "../actor/errors.js";
import type { Settled } from "../actor/gather.js";
import type { Proc } from "../actor/proc.js";
import { rankOfBase } from "../shape/index.js";
import { errorOf } from "../supervise/cause.js";
import { agentOf, asRoot } from "./agents.js";
import type { Member } from "./member.js";
import { orderAt, orderOf, settleOrder } from "./orders.js";
import type { Classes } from "./platform.js";
import type { SpawnedMesh } from "./spawned-mesh.js";
import { stopMember } from "./stop-member.js";
import { countdown, within } from "./within.js";

/** A process that has just been started, and what it is to be told first. */
export interface StartedMember {
  readonly member: Member;
  readonly config: ProcConfig;
}

/** The mesh of procs in which one is replaced. */
export interface Replaceable {
  readonly name: string;
  readonly proc: Proc;
  readonly classes: Classes;
  /** The meshes of actors that live on it. */
  readonly meshes: ReadonlySet<SpawnedMesh>;
  memberAt(rank: number): Member;
  /** From now on this is the proc of a rank. */
  install(member: Member): void;
  /** Processes that have been replaced and have not ended: they end with the others. */
  readonly leaving: Set<Member>;
  /**
   * All processes that may know an actor learn where it lives now. Never rejects.
   * @param drains whether the process that it has left still handles what was sent to it there; then this resolves when that has
   * been done
   */
  announce(mesh: SpawnedMesh, rank: number, drains: boolean): Promise<void>;
  /** A new process learns which actors have moved, before it reads references to them that were written before. */
  tellMoves(member: Member): void;
}

/** How long processes may take at least to learn of a move, in ms. */
const leastAnnouncement = 250;

/** @throws Error if the new process or one of its actors does not come to be: then the old one goes on */
export async function replaceMember(host: Replaceable, started: StartedMember, drain: number): Promise<void> {
  const { member } = started;
  const { rank } = member;
  const made = new Set<SpawnedMesh>();
  const belongs = (mesh: SpawnedMesh) => !mesh.stopping;
  try {
    await configure(host, started);
    // Meshes that are spawned meanwhile are still ordered on the old process.
    for (let mesh = missing(host, rank, made, belongs); mesh !== undefined; mesh = missing(host, rank, made, belongs)) {
      made.add(mesh);
      const outcome = await createAgain(host, member, mesh);
      if (outcome.status === "rejected") throw outcome.reason;
      const { failure } = outcome.value;
      if (failure !== undefined) throw new Error(failure.cause.message);
    }
    if (member.end !== undefined) throw new Error(member.end.cause.message);
  } catch (error) {
    giveUp(member);
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot replace rank ${rank} of mesh "${host.name}": ${why}`, { cause: error });
  }
  const old = host.memberAt(rank);
  host.install(member);
  // It is nobody's failure any more when it ends.
  old.stopping = true;
  host.leaving.add(old);
  const moved = [...made].filter((mesh) => host.meshes.has(mesh) && !mesh.stopping);
  for (const mesh of made) if (!moved.includes(mesh)) stopOn(host, member, mesh);
  const drains = drain > 0 && old.end === undefined;
  const announced = moved.map((mesh) => host.announce(mesh, rankOfBase(mesh.region, rank)!, drains));
  await leave(host, old, announced, drain);
  host.leaving.delete(old);
}

/** Stops a process that has been replaced, when nothing is left for it to do or its time is over. */
async function leave(
  { proc }: Replaceable,
  old: Member,
  announced: readonly Promise<void>[],
  drain: number,
): Promise<void> {
  const { clock } = proc;
  const rest = countdown(clock, drain);
  await within(clock, Math.max(drain, leastAnnouncement), Promise.all(announced));
  const options = { reason: "its process was replaced", drain: rest() };
  await asRoot(proc, () => stopMember(old, agentOf(old.id), options, true));
}

/**
 * The process of a rank has ended: another one gets the actors that wait for it. One of them that does not come to be has
 * failed, and the others live.
 * @throws Error if the new process does not come to be
 */
export async function reviveMember(host: Replaceable, started: StartedMember): Promise<void> {
  const { member } = started;
  const { rank } = member;
  const made = new Map<SpawnedMesh, Settled<SpawnOutcome>>();
  const waits = (mesh: SpawnedMesh) => mesh.isAwaiting(rankOfBase(mesh.region, rank)!);
  try {
    await configure(host, started);
    for (let mesh = missing(host, rank, made, waits); mesh !== undefined; mesh = missing(host, rank, made, waits)) {
      made.set(mesh, await createAgain(host, member, mesh));
    }
    if (member.end !== undefined) throw errorOf(member.end.cause);
  } catch (error) {
    giveUp(member);
    throw error;
  }
  host.install(member);
  for (const [mesh, outcome] of made) {
    const at = rankOfBase(mesh.region, rank)!;
    if (!host.meshes.has(mesh) || mesh.stopping) stopOn(host, member, mesh);
    else if (mesh.restarted(at, outcome)) void host.announce(mesh, at, false);
  }
}

function giveUp(member: Member): void {
  member.giveUp({ kind: "spawn", cause: { name: "SpawnError", message: "it was to replace another, and could not" } });
}

/** A mesh that belongs on a rank and has not been made there yet. */
function missing(
  { meshes }: Replaceable,
  rank: number,
  made: Pick<ReadonlySet<SpawnedMesh>, "has">,
  belongs: (mesh: SpawnedMesh) => boolean,
): SpawnedMesh | undefined {
  return [...meshes].find((mesh) => !made.has(mesh) && rankOfBase(mesh.region, rank) !== undefined && belongs(mesh));
}

async function configure(host: Replaceable, { member, config }: StartedMember): Promise<void> {
  try {
    await asRoot(host.proc, () => agentOf(member.id).configure.callOne(config));
    host.tellMoves(member);
  } catch (error) {
    if (error instanceof ActorError) throw error;
    throw new Error(member.end?.cause.message ?? (error instanceof Error ? error.message : String(error)));
  }
}

/** Makes the actor of a mesh that belongs to a process, in its next life. Never rejects. */
export async function createAgain(
  { proc, classes }: Pick<Replaceable, "proc" | "classes">,
  member: Member,
  mesh: SpawnedMesh,
): Promise<Settled<SpawnOutcome>> {
  try {
    const reference = classes.known(mesh.plan.actorClass) ?? (await classes.resolve(mesh.plan.actorClass));
    const rank = rankOfBase(mesh.region, member.rank)!;
    const order = orderAt(orderOf(mesh, reference), mesh, rank, mesh.nextIncarnation(rank));
    const agent = agentOf(member.id);
    const [first] = [...(await asRoot(proc, () => agent.createActor.callSettled(order))).values()];
    return await settleOrder(proc, agent, mesh, order, first!);
  } catch (error) {
    return { status: "rejected", reason: error instanceof Error ? error : new Error(String(error)) };
  }
}

function stopOn({ proc }: Replaceable, member: Member, { record }: SpawnedMesh): void {
  const order = { reason: record.stopped ?? noReason, drain: 0 };
  asRoot(proc, () => agentOf(member.id).stopActor.broadcast(record.id, order));
}
