/**
 * A process that takes the place of another one: it is started, gets the actors that live there, and from one moment on gets
 * what is sent to them; what has been sent before is left to the old one, which then ends in order. Nothing that was sent is
 * lost, and the addresses stay. The state of actors is fresh, as after any start.
 */
import type { ProcConfig, SpawnOutcome } from "../../generated/proc-agent.js";
import { ActorError } from "../actor/errors.js";
import type { Settled } from "../actor/gather.js";
import type { Proc } from "../actor/proc.js";
import { rankOfBase } from "../shape/index.js";
import { agentOf, asRoot } from "./agents.js";
import type { Member } from "./member.js";
import { orderAt, orderOf, settleOrder } from "./orders.js";
import type { Classes } from "./platform.js";
import type { SpawnedMesh } from "./spawned-mesh.js";
import { stopMember } from "./stop-member.js";

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
  /** All processes that may know an actor learn where it lives now. Never rejects. */
  announce(mesh: SpawnedMesh, rank: number): Promise<void>;
}

/** @throws Error if the new process or one of its actors does not come to be: then the old one goes on */
export async function replaceMember(host: Replaceable, started: StartedMember, drain: number): Promise<void> {
  const { member } = started;
  const { rank } = member;
  const made = new Set<SpawnedMesh>();
  try {
    await configure(host, started);
    // Meshes that are spawned meanwhile are still ordered on the old process.
    for (let mesh = missing(host, rank, made); mesh !== undefined; mesh = missing(host, rank, made)) {
      made.add(mesh);
      await create(host, member, mesh);
    }
    if (member.end !== undefined) throw new Error(member.end.cause.message);
  } catch (error) {
    member.giveUp({
      kind: "spawn",
      cause: { name: "SpawnError", message: "it was to replace another, and could not" },
    });
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot replace rank ${rank} of mesh "${host.name}": ${why}`, { cause: error });
  }
  const old = host.memberAt(rank);
  host.install(member);
  const moved = [...made].filter((mesh) => host.meshes.has(mesh) && !mesh.stopping);
  const reason = "its process was replaced";
  for (const mesh of made) if (!moved.includes(mesh)) stopOn(host, member, mesh);
  await Promise.all(moved.map((mesh) => host.announce(mesh, rankOfBase(mesh.region, rank)!)));
  await asRoot(host.proc, () => stopMember(old, agentOf(old.id), { reason, drain }));
}

function missing({ meshes }: Replaceable, rank: number, made: ReadonlySet<SpawnedMesh>): SpawnedMesh | undefined {
  return [...meshes].find((mesh) => !made.has(mesh) && !mesh.stopping && rankOfBase(mesh.region, rank) !== undefined);
}

async function configure({ proc }: Replaceable, { member, config }: StartedMember): Promise<void> {
  try {
    await asRoot(proc, () => agentOf(member.id).configure.callOne(config));
  } catch (error) {
    if (error instanceof ActorError) throw error;
    throw new Error(member.end?.cause.message ?? (error instanceof Error ? error.message : String(error)));
  }
}

async function create({ proc, classes }: Replaceable, member: Member, mesh: SpawnedMesh): Promise<void> {
  const reference = classes.known(mesh.plan.actorClass) ?? (await classes.resolve(mesh.plan.actorClass));
  const rank = rankOfBase(mesh.region, member.rank)!;
  const order = orderAt(orderOf(mesh, reference), mesh, rank, mesh.nextIncarnation(rank));
  const agent = agentOf(member.id);
  const [first] = [...(await asRoot(proc, () => agent.createActor.callSettled(order))).values()];
  const outcome: Settled<SpawnOutcome> = await settleOrder(proc, agent, mesh, order, first!);
  if (outcome.status === "rejected") throw outcome.reason;
  const { failure } = outcome.value;
  if (failure !== undefined) throw new Error(failure.cause.message);
}

function stopOn({ proc }: Replaceable, member: Member, { record }: SpawnedMesh): void {
  const order = { reason: record.stopped ?? "stopped", drain: 0 };
  asRoot(proc, () => agentOf(member.id).stopActor.broadcast(record.id, order));
}
