/**
 * Orders the actors of a mesh on its procs: all at once when it is spawned, and one by one where they begin with
 * checkpoints or join later. `spawn-orders.ts` writes the orders and repeats them if necessary.
 */
import type { ProcAgentMesh, SpawnOutcome } from "../../../generated/proc-agent.js";
import type { Settled } from "../../actor/call/gather-call.js";
import type { Proc } from "../../actor/proc/proc.js";
import { failureCauseOf } from "../../supervise/failure-cause.js";
import type { ClassReference } from "../platform/actor-registry.js";
import type { ActorClasses } from "../platform/platform.js";
import { type ProcAgents, runAsRoot } from "../proc-agents.js";
import { sendWithCheckpoint, settleSpawnOrder, spawnOrderAt, spawnOrderFor } from "./spawn-orders.js";
import type { SpawnedActors } from "./spawned-actors.js";

/** The procs on which actors are created. */
export interface OrderingProcs {
  /** The proc that sends the orders. */
  readonly proc: Proc;
  readonly classes: ActorClasses;
}

/** An actor that is created by an order of its own. */
export interface OrderedActor {
  readonly rank: number;
  readonly incarnation: number;
  readonly agent: ProcAgentMesh;
}

/** Orders the actors of a mesh that is being spawned. @throws rethrows what prevents the orders from being written */
export function orderFirstActors(procs: OrderingProcs, agents: ProcAgents, mesh: SpawnedActors): void {
  const { actorClass } = mesh.plan;
  const known = procs.classes.referenceOf(actorClass);
  const isDurable = mesh.checkpoints?.isDurable === true;
  if (known !== undefined && !isDurable) {
    orderAtOnce(procs, agents, mesh, known);
    return;
  }
  const orderAll = (actor: ClassReference) =>
    isDurable ? orderEach(procs, mesh, actor, firstActors(agents, mesh)) : orderAtOnce(procs, agents, mesh, actor);
  const found = known === undefined ? procs.classes.resolve(actorClass) : Promise.resolve(known);
  mesh.orderLater(found.then(orderAll).catch((error) => refuseActors(procs, agents, mesh, error)));
}

/** Orders actors that join a mesh. */
export function orderJoiningActors(procs: OrderingProcs, mesh: SpawnedActors, joining: readonly OrderedActor[]): void {
  const { actorClass } = mesh.plan;
  const known = procs.classes.referenceOf(actorClass);
  const orderAll = (actor: ClassReference) => orderEach(procs, mesh, actor, joining);
  const ordered = known === undefined ? procs.classes.resolve(actorClass).then(orderAll) : orderAll(known);
  mesh.orderLater(ordered.catch((error) => mesh.refuseAll(failureCauseOf(error))));
}

/** Resolves when the creation orders of a mesh and the messages from here to its actors have been delivered. */
export async function whenOrdersDelivered(proc: Proc, mesh: SpawnedActors): Promise<void> {
  await mesh.isOrdered();
  await Promise.all([proc.casts.whenAnswered(mesh.record.id), mesh.record.whenSent()]);
}

function firstActors(agents: ProcAgents, { record, members }: SpawnedActors): OrderedActor[] {
  return Array.from({ length: record.size }, (_, rank) => ({
    rank,
    incarnation: 0,
    agent: agents.atRank(members.procOf(rank)),
  }));
}

/** Sends one order to all procs of a mesh. */
function orderAtOnce({ proc }: OrderingProcs, agents: ProcAgents, mesh: SpawnedActors, actor: ClassReference): void {
  const { members } = mesh;
  const order = spawnOrderFor(mesh, actor);
  const settle = async (rank: number, outcome: Settled<SpawnOutcome>) => {
    const agent = agents.atRank(members.procOf(rank));
    const own = spawnOrderAt(order, mesh, rank, 0);
    mesh.recordOutcome(rank, await settleSpawnOrder(proc, agent, mesh, own, outcome));
  };
  const outcomes = runAsRoot(proc, () => agents.inRegion(members.spawnedOn).createActor.callSettled(order));
  void outcomes.then((all) => {
    let rank = 0;
    for (const outcome of all.values()) void settle(rank++, outcome);
  });
}

/** Sends an order to each actor, with its checkpoint if there is one. Resolves when the orders have been sent. */
async function orderEach(
  { proc }: OrderingProcs,
  mesh: SpawnedActors,
  actor: ClassReference,
  actors: readonly OrderedActor[],
): Promise<void> {
  const order = spawnOrderFor(mesh, actor);
  const orderOne = async ({ rank, incarnation, agent }: OrderedActor) => {
    const sent = await sendWithCheckpoint(proc, agent, mesh, spawnOrderAt(order, mesh, rank, incarnation));
    void sent.outcome.then((outcome) => mesh.recordOutcome(rank, outcome, incarnation));
  };
  await Promise.all(actors.map(orderOne));
}

/** Marks all actors of a mesh as failed, because other processes cannot load their class. */
function refuseActors({ proc }: OrderingProcs, agents: ProcAgents, mesh: SpawnedActors, error: unknown): void {
  const { record, members, name } = mesh;
  const cause = failureCauseOf(error);
  runAsRoot(proc, () => agents.inRegion(members.spawnedOn).refuse.broadcast(record.id, name, cause.message));
  mesh.refuseAll(cause);
}
