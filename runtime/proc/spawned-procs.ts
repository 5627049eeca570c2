/**
 * A mesh of procs, as the one who made it sees it: its members, the orders to their agents, and their ends, expected or
 * not. Handles of it are ProcMesh; how a proc is started is decided elsewhere.
 */

import type { ProcConfig } from "../../generated/proc-agent.js";
import type { RankLocation } from "../actor/address.js";
import type { Cell } from "../actor/cell.js";
import { ActorError } from "../actor/errors.js";
import type { StopOptions } from "../actor/hooks.js";
import type { Proc } from "../actor/proc.js";
import { baseRanks, type Extent, type Region } from "../shape/index.js";
import { causeOf, errorOf } from "../supervise/cause.js";
import { type AffectedMesh, MeshFailure } from "../supervise/failure.js";
import type { Owned } from "../supervise/ownership.js";
import { ActorHost, type SpawnPlan } from "./actor-host.js";
import { Agents, asRoot } from "./agents.js";
import type { BodyEnd } from "./body.js";
import { Deferred } from "./deferred.js";
import type { Local } from "./local.js";
import type { Member } from "./member.js";
import { type ClassReference, registry } from "./registry.js";
import type { SpawnedMesh } from "./spawned-mesh.js";
import { stopMember, whileAlive } from "./stop-member.js";

export interface SpawnedProcsOptions {
  readonly name: string;
  readonly extent: Extent;
  readonly owner: Cell;
}

export class SpawnedProcs extends ActorHost implements Owned {
  readonly name: string;
  readonly extent: Extent;
  readonly owner: Cell;
  #members: readonly Member[] = [];
  readonly #ready = new Deferred<void>();
  #agents: Agents;
  #stopped: string | undefined;
  #stopping: Promise<void> | undefined;

  constructor(local: Local, { name, extent, owner }: SpawnedProcsOptions) {
    super(local);
    this.name = name;
    this.extent = extent;
    this.owner = owner;
    this.#agents = new Agents(owner.proc.id, extent, []);
  }

  get proc(): Proc {
    return this.owner.proc;
  }

  /** Resolves when all processes have answered and run their bootstrap modules; rejects with why one has not. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  protected get stopped(): string | undefined {
    return this.#stopped;
  }

  /** All members are there, linked to this proc: they are told what they are. */
  configure(members: readonly Member[], config: ProcConfig): void {
    this.#members = members;
    this.#agents = new Agents(this.proc.id, this.extent, members.map(placeOf));
    for (const member of members) this.local.members.set(member.id, member);
    this.local.ownership.add(this.owner, this);
    this.local.endInOrder();
    asRoot(this.proc, () => this.#agents.all().configure.callSettled(config)).then((answers) => {
      let rank = 0;
      let answered = 0;
      for (const answer of answers.values()) {
        const member = members[rank++]!;
        if (answer.status === "fulfilled") answered++;
        // What ends with its process is told of as that.
        else if (answer.reason instanceof ActorError) member.giveUp({ kind: "spawn", cause: bootCause(answer.reason) });
      }
      if (answered === members.length) this.#ready.resolve();
    });
  }

  places(region: Region): RankLocation[] {
    return this.#on(region).map(placeOf);
  }

  protected create(mesh: SpawnedMesh, plan: SpawnPlan): void {
    for (const { rank, end } of this.#members) if (end !== undefined) mesh.lose(rank, end.cause);
    const known = registry.known(plan.actorClass);
    if (known !== undefined) {
      this.#order(mesh, known, plan);
      return;
    }
    const ordered = registry.resolve(plan.actorClass).then((actor) => this.#order(mesh, actor, plan));
    mesh.orderedBy(ordered.catch((error) => this.#refuse(mesh, error)));
  }

  stopActors({ record, region }: SpawnedMesh, { reason, drain }: StopOptions): Promise<unknown> {
    const stopOn = ({ rank }: Member) => {
      const agent = this.#agents.one(rank);
      return whileAlive(agent, drain, agent.stopActor.callOne(record.id, { reason, drain }));
    };
    const running = this.#on(region).filter(({ end }) => end === undefined);
    return asRoot(this.proc, () => Promise.all(running.map(stopOn)));
  }

  stop(options: StopOptions): Promise<void> {
    this.#stopped ??= options.reason;
    for (const { record } of this.meshes) record.stopped ??= options.reason;
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  /** A member has ended. */
  ended(member: Member, { kind, cause }: BodyEnd): void {
    this.local.members.delete(member.id);
    this.proc.peerDown(member.id, cause.message);
    if (!member.stopping) this.#lost(member, { kind, cause });
  }

  #on(region: Region): Member[] {
    return [...baseRanks(region)].map((rank) => this.#members[rank]!);
  }

  #order(mesh: SpawnedMesh, actor: ClassReference, { descriptor, args }: SpawnPlan): void {
    const { record, region, name } = mesh;
    const order = { mesh: record.id, name, actor, fingerprint: descriptor.fingerprint, args, incarnation: 0 };
    const outcomes = asRoot(this.proc, () => this.#agents.on(region).createActor.callSettled(order));
    void outcomes.then((all) => {
      let rank = 0;
      for (const outcome of all.values()) mesh.outcome(rank++, outcome);
    });
  }

  /** The class is none that other processes could load. */
  #refuse(mesh: SpawnedMesh, error: unknown): void {
    const { record, region, name } = mesh;
    const cause = causeOf(error);
    asRoot(this.proc, () => this.#agents.on(region).refuse.broadcast(record.id, name, cause.message));
    mesh.fail([...Array(record.size).keys()], "spawn", cause);
  }

  #lost(member: Member, { kind, cause }: BodyEnd): void {
    const { rank } = member;
    const at = new Date();
    const affected: AffectedMesh[] = [];
    for (const mesh of this.meshes) {
      const lost = mesh.lose(rank, cause);
      if (lost === undefined) continue;
      if (mesh.owner === this.owner) affected.push({ mesh: mesh.name, ranks: [lost] });
      else this.tell(mesh.owner, new MeshFailure({ mesh: mesh.name, ranks: [lost], kind, cause, at, affected: [] }));
    }
    const text = `mesh "${this.name}" is not ready: rank ${rank}: ${cause.message}`;
    this.#ready.reject(new Error(text, { cause: errorOf(cause) }));
    this.tell(this.owner, new MeshFailure({ mesh: this.name, ranks: [rank], kind, cause, at, affected }));
  }

  async #stop(options: StopOptions): Promise<void> {
    this.#ready.reject(new Error(`mesh "${this.name}" was stopped before it was ready: ${options.reason}`));
    // Ends that have been noticed are told before this is over.
    await new Promise((resolve) => setImmediate(resolve));
    await asRoot(this.proc, () =>
      Promise.all(this.#members.map((member) => stopMember(member, this.#agents.one(member.rank), options))),
    );
    for (const mesh of [...this.meshes]) mesh.gone(options.reason);
    this.local.ownership.remove(this.owner, this);
  }
}

function placeOf({ id, location }: Member): RankLocation {
  return { proc: id, location };
}

/** What went wrong in the process itself, not that a call to its agent failed. */
function bootCause(error: ActorError): ReturnType<typeof causeOf> {
  const { remoteName, message, remoteStack, cause } = error;
  const stack = remoteStack === undefined ? {} : { stack: remoteStack };
  return { name: remoteName, message, ...stack, ...(cause instanceof Error ? { cause: causeOf(cause) } : {}) };
}
