/**
 * A mesh of procs, as the one who made it sees it: its members, the orders to their agents, and their ends, expected or
 * not. Handles of it are ProcMesh; how a proc is started is decided elsewhere.
 */

import type { ProcConfig, ProcInfo, SpawnOutcome } from "../../generated/proc-agent.js";
import { because, type RankLocation } from "../actor/address.js";
import type { Cell } from "../actor/cell.js";
import { runTurn } from "../actor/context.js";
import { programIsEnding } from "../actor/ending.js";
import { ActorError } from "../actor/errors.js";
import type { Settled } from "../actor/gather.js";
import type { StopOptions } from "../actor/hooks.js";
import type { Proc } from "../actor/proc.js";
import { baseRank, baseRanks, type Extent, type Region, rankOfBase } from "../shape/index.js";
import { causeOf, errorOf } from "../supervise/cause.js";
import { type AffectedMesh, MeshFailure, type PastFailure } from "../supervise/failure.js";
import type { Owned } from "../supervise/ownership.js";
import type { RestartPlan } from "../supervise/restart.js";
import { ActorHost } from "./actor-host.js";
import { Agents, agentOf, asRoot } from "./agents.js";
import type { BodyEnd } from "./body.js";
import { Deferred } from "./deferred.js";
import type { Local } from "./local.js";
import type { Member } from "./member.js";
import { orderAt, orderOf, settleOrder } from "./orders.js";
import type { Classes } from "./platform.js";
import type { ClassReference } from "./registry.js";
import { createAgain, replaceMember, type StartedMember } from "./replacement.js";
import { type LostActor, type Restartable, Restarting } from "./restarting.js";
import type { SpawnedMesh } from "./spawned-mesh.js";
import { stopMember, whileAlive } from "./stop-member.js";
import { countdown, within } from "./within.js";

export interface SpawnedProcsOptions {
  readonly name: string;
  readonly extent: Extent;
  readonly owner: Cell;
  /** Of the processes, and of what is spawned on them unless it is said otherwise there. */
  readonly restart?: RestartPlan | undefined;
  /** Starts a process that takes the place of the one at a rank. */
  readonly start: (procs: SpawnedProcs, rank: number) => StartedMember;
}

export class SpawnedProcs extends ActorHost implements Owned, Restartable {
  readonly name: string;
  readonly extent: Extent;
  readonly owner: Cell;
  #members: Member[] = [];
  readonly #ready = new Deferred<void>();
  #agents: Agents;
  #stopped: string | undefined;
  /** How many procs have been replaced. */
  #generation = 0;
  readonly #start: SpawnedProcsOptions["start"];
  /** Ranks that were replaced by processes that are started otherwise. */
  readonly #starts = new Map<number, (rank: number) => StartedMember>();
  readonly #restart: RestartPlan | undefined;
  readonly #restarting: Restarting;
  readonly leaving = new Set<Member>();
  #stopping: Promise<void> | undefined;

  constructor(local: Local, { name, extent, owner, restart, start }: SpawnedProcsOptions) {
    super(local);
    this.#start = start;
    this.#restart = restart;
    this.#restarting = new Restarting(this, restart);
    this.name = name;
    this.extent = extent;
    this.owner = owner;
    this.#agents = new Agents(owner.proc.id, extent, []);
  }

  get proc(): Proc {
    return this.owner.proc;
  }

  get classes(): Classes {
    return this.local.platform.classes;
  }

  /** Resolves when all processes have answered and run their bootstrap modules; rejects with why one has not. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  protected override get restartsActors(): RestartPlan | undefined {
    return this.#restart;
  }

  protected get stopped(): string | undefined {
    return this.#stopped;
  }

  /** It has been stopped, or is being. */
  get over(): boolean {
    return this.#stopping !== undefined;
  }

  /** All members are there, linked to this proc: they are told what they are. */
  configure(started: readonly StartedMember[]): void {
    const members = started.map(({ member }) => member);
    this.#members = members;
    this.#agents = new Agents(this.proc.id, this.extent, members.map(placeOf));
    for (const member of members) this.local.members.set(member.id, member);
    this.local.ownership.add(this.owner, this);
    this.local.endInOrder();
    const configs = started.map(({ config }) => config);
    asRoot(this.proc, () => this.#tell(configs)).then((answers) => {
      let rank = 0;
      let answered = 0;
      for (const answer of answers) {
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

  memberAt(rank: number): Member {
    return this.#members[rank]!;
  }

  install(member: Member): void {
    const { rank } = member;
    this.#members[rank] = member;
    this.#agents.locate(rank, { ...placeOf(member), generation: ++this.#generation });
    member.stopping = false;
    this.#restarting.arrived(member);
  }

  start(rank: number): StartedMember {
    const start = this.#starts.get(rank) ?? ((at: number) => this.#start(this, at));
    // As its owner, who gave the options that may be functions.
    return this.#prepared(runTurn(this.owner.turn, () => start(rank)) as StartedMember);
  }

  async announce(mesh: SpawnedMesh, rank: number, drains: boolean): Promise<void> {
    const { proc } = this;
    const { id, location } = this.#members[baseRank(mesh.region, rank)]!;
    mesh.revived(rank);
    const move = { mesh: mesh.record.id, rank, proc: id, location, generation: mesh.incarnation(rank), drains };
    await this.local.procs.get(proc.id)!.moved(move, proc.id);
  }

  tellMoves({ id }: Member): void {
    const { proc, local } = this;
    // It has sent nothing to where the actors lived before.
    const moves = local.records.moves.map((move) => ({ ...move, drains: false }));
    asRoot(proc, () => {
      for (const move of moves) agentOf(id).moved.broadcast(move, proc.id);
    });
  }

  /** Replaces procs, one after another. @throws Error if one cannot be replaced: it and those after it go on as they were */
  async replace(region: Region, start: (rank: number) => StartedMember, drain: number): Promise<void> {
    for (const rank of baseRanks(region)) {
      if (this.#stopped !== undefined) {
        throw new Error(`cannot replace rank ${rank} of mesh "${this.name}": it was stopped${because(this.#stopped)}`);
      }
      const started = this.#prepared(start(rank));
      this.#restarting.track(started.member);
      await replaceMember(this, started, drain);
      this.#starts.set(rank, start);
    }
  }

  async restart(mesh: SpawnedMesh, rank: number): Promise<void> {
    const member = this.#members[baseRank(mesh.region, rank)]!;
    if (member.end !== undefined) return;
    const outcome = await createAgain(this, member, mesh);
    if (mesh.restarted(rank, outcome)) await this.announce(mesh, rank, false);
  }

  lost(rank: number, { kind, cause, at }: PastFailure, lost: readonly LostActor[]): void {
    const affected: AffectedMesh[] = [];
    for (const { mesh, rank: actor } of lost) {
      if (mesh.owner === this.owner) affected.push({ mesh: mesh.name, ranks: [actor] });
      else mesh.tell(actor, { kind, cause, at });
    }
    const text = `mesh "${this.name}" is not ready: rank ${rank}: ${cause.message}`;
    this.#ready.reject(new Error(text, { cause: errorOf(cause) }));
    const history = this.#restarting.history(rank);
    this.tell(this.owner, new MeshFailure({ mesh: this.name, ranks: [rank], kind, cause, at, affected, history }));
  }

  protected create(mesh: SpawnedMesh): void {
    const { actorClass } = mesh.plan;
    for (const { rank, end } of this.#members) {
      const at = end === undefined ? undefined : rankOfBase(mesh.region, rank);
      if (end === undefined || at === undefined) continue;
      if (this.#restarting.awaits(rank, mesh)) mesh.awaitProcess(at, end.cause);
      else mesh.lose(at, end.cause);
    }
    const known = this.classes.known(actorClass);
    if (known !== undefined) {
      this.#order(mesh, known);
      return;
    }
    const ordered = this.classes.resolve(actorClass).then((actor) => this.#order(mesh, actor));
    mesh.orderedBy(ordered.catch((error) => this.#refuse(mesh, error)));
  }

  stopActors({ record, region }: SpawnedMesh, { reason, drain }: StopOptions): Promise<unknown> {
    const stopOn = ({ rank }: Member) => {
      const agent = this.#agents.one(rank);
      return whileAlive(this.proc.clock, agent, drain, agent.stopActor.callOne(record.id, { reason, drain }));
    };
    const running = this.#on(region).filter(({ end }) => end === undefined);
    return asRoot(this.proc, () => Promise.all(running.map(stopOn)));
  }

  stop(options: StopOptions): Promise<void> {
    this.#stopped ??= options.reason;
    for (const { record } of this.meshes) {
      record.stopped ??= options.reason;
      // Trees are given up while all their procs are there, and not set up anew around each that ends.
      this.proc.casts.meshStopped(record.id);
    }
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  /** A member has ended. */
  ended(member: Member, { kind, cause, clean = false }: BodyEnd): void {
    this.local.members.delete(member.id);
    this.proc.peerDown(member.id, cause.message);
    if (!member.stopping)
      this.#restarting.ended(member.rank, { kind, cause, at: new Date(this.proc.clock.wall()) }, clean);
  }

  /** Until it has taken its place, its end is no failure of the mesh. */
  #prepared(started: StartedMember): StartedMember {
    const { member } = started;
    member.stopping = true;
    this.local.members.set(member.id, member);
    return started;
  }

  #on(region: Region): Member[] {
    return [...baseRanks(region)].map((rank) => this.#members[rank]!);
  }

  /** One cast where all are told the same. */
  async #tell(configs: readonly ProcConfig[]): Promise<readonly Settled<ProcInfo>[]> {
    const [first, ...others] = configs;
    if (first === undefined) return [];
    const same = others.every(({ registry: place, loader }) => place === first.registry && loader === first.loader);
    if (same) return [...(await this.#agents.all().configure.callSettled(first)).values()];
    const tellOne = async (config: ProcConfig, rank: number) => {
      const [answer] = [...(await this.#agents.one(rank).configure.callSettled(config)).values()];
      return answer!;
    };
    return Promise.all(configs.map(tellOne));
  }

  #order(mesh: SpawnedMesh, actor: ClassReference): void {
    const { region } = mesh;
    const order = orderOf(mesh, actor);
    const outcomes = asRoot(this.proc, () => this.#agents.on(region).createActor.callSettled(order));
    void outcomes.then((all) => {
      let rank = 0;
      for (const outcome of all.values()) void settle(rank++, outcome);
    });
    const settle = async (rank: number, outcome: Settled<SpawnOutcome>) => {
      const agent = this.#agents.one(baseRank(region, rank));
      mesh.outcome(rank, await settleOrder(this.proc, agent, mesh, orderAt(order, mesh, rank, 0), outcome));
    };
  }

  /** Resolves when the orders to make the actors of a mesh, and what was sent to those from here, are on their way. */
  async #answered(mesh: SpawnedMesh): Promise<void> {
    await mesh.isOrdered();
    await Promise.all([this.proc.casts.answered(mesh.record.id), mesh.record.sent()]);
  }

  /** The class is none that other processes could load. */
  #refuse(mesh: SpawnedMesh, error: unknown): void {
    const { record, region, name } = mesh;
    const cause = causeOf(error);
    asRoot(this.proc, () => this.#agents.on(region).refuse.broadcast(record.id, name, cause.message));
    mesh.refuse(cause);
  }

  async #stop(options: StopOptions): Promise<void> {
    this.#restarting.stop();
    if (!programIsEnding()) {
      this.#ready.reject(new Error(`mesh "${this.name}" was stopped before it was ready${because(options.reason)}`));
    }
    // Ends that have been noticed are told before this is over.
    await new Promise<void>((resolve) => this.proc.clock.soon(resolve));
    const { clock } = this.proc;
    const left = countdown(clock, options.drain);
    // Answers come through other processes: none of those may leave before.
    const answered = Promise.all([...this.meshes].map((mesh) => this.#answered(mesh)));
    if (options.drain > 0) await within(clock, options.drain, answered);
    const rest = { ...options, drain: left() };
    await asRoot(this.proc, () =>
      Promise.all([
        ...this.#members.map((member) => stopMember(member, this.#agents.one(member.rank), rest)),
        ...[...this.leaving].map((member) => stopMember(member, agentOf(member.id), rest)),
      ]),
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
