/**
 * Orders to create the actors of a mesh. A process with another schema version answers with its schema instead of
 * creating the actor. If the two schemas are compatible, the order is repeated with its arguments in the protobuf
 * layout.
 */

import type { Checkpoint } from "../../../generated/checkpoint.js";
import type { KnownSchema, ProcAgentMesh, SpawnOrder, SpawnOutcome } from "../../../generated/proc-agent.js";
import { errorMessage, toError } from "../../../shared/text/error-message.js";
import type { Settled } from "../../actor/call/gather-call.js";
import { portsRead } from "../../actor/port/announce-holders.js";
import type { Proc } from "../../actor/proc/proc.js";
import { schemaDifferences } from "../../actor/schema/compare-schemas.js";
import { CheckpointError } from "../../supervise/checkpoint-error.js";
import { failureCauseOf } from "../../supervise/failure-cause.js";
import { carryCheckpoint, stateOffersOf } from "../checkpoint/state-offers.js";
import type { ClassReference } from "../platform/actor-registry.js";
import { runAsRoot } from "../proc-agents.js";
import type { SpawnedActors } from "./spawned-actors.js";

/** Returns the order for all actors of a mesh. */
export function spawnOrderFor({ record, plan, checkpoints }: SpawnedActors, actor: ClassReference): SpawnOrder {
  const { descriptor, args, protobuf, watch, maxCalls } = plan;
  const { id: mesh, name } = record;
  const order = { mesh, name, actor, fingerprint: descriptor.fingerprint, args, incarnation: 0 };
  const layout = protobuf ? { protobuf, uncompared: true } : {};
  const savesAtStop = checkpoints?.isDurable === true;
  const limits = { ...(watch !== undefined && { watch }), ...(maxCalls !== undefined && { maxCalls }) };
  return { ...order, ...layout, ...limits, ...(savesAtStop && { savesAtStop }) };
}

/**
 * Returns the order for one actor. It names the rank and the extent, because the process may have another rank in its
 * own mesh.
 */
export function spawnOrderAt(order: SpawnOrder, mesh: SpawnedActors, number: number, incarnation: number): SpawnOrder {
  const { rank, extent } = mesh.members.placeOf(number);
  const place = { rank, dimensions: Object.keys(extent), sizes: Object.values<number>(extent) };
  return { ...order, incarnation, place: number === rank ? place : { ...place, number } };
}

/**
 * Returns the final outcome of an order. If the schemas differ, compares them and repeats or refuses the order. Never
 * rejects.
 * @param agent the agent of the process that answered
 */
export async function settleSpawnOrder(
  from: Proc,
  agent: ProcAgentMesh,
  mesh: SpawnedActors,
  order: SpawnOrder,
  outcome: Settled<SpawnOutcome>,
): Promise<Settled<SpawnOutcome>> {
  const other = outcome.status === "fulfilled" ? outcome.value.other : undefined;
  if (other === undefined) return checkRestored(from, agent, order, outcome);
  let refused: string | SpawnOrder;
  try {
    refused = adaptOrder(mesh, order, other);
    if (typeof refused !== "string") {
      return checkRestored(from, agent, order, await repeatOrder(from, agent, refused));
    }
  } catch (error) {
    // The schema of the process cannot be read, or the arguments are too large for a message in the protobuf layout.
    refused = errorMessage(error);
  }
  const why = refused;
  runAsRoot(from, () => agent.refuse.broadcast(order.mesh, order.name, why, order.place));
  return failedOutcome(from, order, new Error(why));
}

/** Fails an order with a checkpoint that a process has carried out without it, because its release knows no checkpoints. */
function checkRestored(
  from: Proc,
  agent: ProcAgentMesh,
  order: SpawnOrder,
  outcome: Settled<SpawnOutcome>,
): Settled<SpawnOutcome> {
  if ((order.checkpoint ?? order.carried) === undefined || outcome.status === "rejected") return outcome;
  const { failure, restored } = outcome.value;
  if (failure !== undefined || restored === true) return outcome;
  const why = "its process has an older version of Viceroy, which cannot restore checkpoints";
  runAsRoot(from, () => agent.stopActor.broadcast(order.mesh, { reason: why, drain: 0 }));
  return failedOutcome(from, order, new CheckpointError("restore", order.name, actorNumber(order), why));
}

/**
 * Completes an order with a state of its actor, or with its last checkpoint if there is one, and sends it.
 *
 * @param saved the state that the actor begins with; undefined for its last checkpoint
 * @returns the outcome, wrapped, so that the caller can wait until the order has been sent
 */
export async function sendWithCheckpoint(
  from: Proc,
  agent: ProcAgentMesh,
  mesh: SpawnedActors,
  order: SpawnOrder,
  saved?: Checkpoint,
): Promise<{ readonly outcome: Promise<Settled<SpawnOutcome>> }> {
  try {
    const checkpoint = saved ?? (await mesh.checkpoints?.read(actorNumber(order)));
    const carried = checkpoint && carryCheckpoint(from, checkpoint);
    const complete = { ...order, ...(carried?.offer === undefined ? carried : { carried }) };
    const sent = runAsRoot(from, () => agent.createActor.callSettled(complete));
    const settle = async () => {
      try {
        const [first] = [...(await sent).values()];
        return await settleSpawnOrder(from, agent, mesh, complete, first!);
      } finally {
        stateOffersOf(from).drop(carried?.offer?.id);
      }
    };
    return { outcome: settle() };
  } catch (error) {
    // The store has failed.
    runAsRoot(from, () => agent.refuse.broadcast(order.mesh, order.name, errorMessage(error), order.place));
    return { outcome: Promise.resolve(failedOutcome(from, order, toError(error))) };
  }
}

/** @returns the reason why that process cannot create the actor, or an order that it can read */
function adaptOrder({ plan }: SpawnedActors, order: SpawnOrder, other: KnownSchema): string | SpawnOrder {
  const { descriptor } = plan;
  const apart = schemaDifferences(descriptor, other);
  if (apart !== undefined) return `the process of ${order.name}[${actorNumber(order)}] ${apart}`;
  const { uncompared: _, ...compared } = order;
  const read = portsRead.length;
  try {
    const args = plan.protobuf ? plan.args : descriptor.args.toProtobuf(descriptor.args.decode(plan.args));
    return { ...compared, protobuf: true, args };
  } catch (error) {
    return errorMessage(error);
  } finally {
    portsRead.length = read;
  }
}

async function repeatOrder(from: Proc, agent: ProcAgentMesh, order: SpawnOrder): Promise<Settled<SpawnOutcome>> {
  const [outcome] = [...(await runAsRoot(from, () => agent.createActor.callSettled(order))).values()];
  if (outcome?.status !== "fulfilled" || outcome.value.other === undefined) return outcome!;
  return failedOutcome(
    from,
    order,
    new Error(`the process of ${order.name}[${actorNumber(order)}] does not take the protobuf layout`),
  );
}

/** Returns the number of the actor that an order for one actor creates. */
function actorNumber({ place }: SpawnOrder): number {
  return place?.number ?? place?.rank ?? 0;
}

/** Returns the outcome of an order that could not be carried out. */
function failedOutcome({ clock }: Proc, order: SpawnOrder, error: Error): Settled<SpawnOutcome> {
  const { mesh, incarnation } = order;
  const failure = {
    mesh,
    rank: actorNumber(order),
    incarnation,
    kind: "spawn" as const,
    cause: failureCauseOf(error),
    at: new Date(clock.epochMs()),
  };
  return { status: "fulfilled", value: { failure } };
}
