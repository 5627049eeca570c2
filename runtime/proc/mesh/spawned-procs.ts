/**
 * A mesh of procs, as the one who made it sees it: its members, the orders to their agents, and their ends, expected or
 * not. Handles of it are ProcMesh; how a proc is started is decided elsewhere.
 */

import type { ProcConfig, ProcInfo, SpawnOutcome } from "../../../generated/proc-agent.js";
import type { Settled } from "../../actor/call/gather-call.js";
import type { ActorCell } from "../../actor/cell/actor-cell.js";
import { runInTurn } from "../../actor/context.js";
import { ActorError } from "../../actor/errors.js";
import type { Proc } from "../../actor/proc/proc.js";
import { isProgramEnding } from "../../actor/program-end.js";
import { type RankLocation, reasonSuffix } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/proc-hooks.js";
import { baseRank, baseRanks, type Extent, type Region, rankOfBaseRank } from "../../shape/index.js";
import { errorFromCause, failureCauseOf } from "../../supervise/failure-cause.js";
import { type AffectedMesh, MeshFailure, type PastFailure } from "../../supervise/mesh-failure.js";
import type { OwnedMesh } from "../../supervise/ownership.js";
import type { RestartPlan } from "../../supervise/restart-policy.js";
import { Deferred } from "../deferred.js";
import type { ProcExit } from "../launch/proc-backend.js";
import type { ClassReference } from "../platform/actor-registry.js";
import type { ActorClasses } from "../platform/platform.js";
import { agentOf, ProcAgents, runAsRoot } from "../proc-agents.js";
import type { ProcessRuntime } from "../process/process-runtime.js";
import { countdown, settlesWithin } from "../time-limit.js";
import type { ChildProc } from "./child-proc.js";
import { ProcGroup } from "./proc-group.js";
import { type LostActor, ProcRestarts, type RestartableProcs } from "./proc-restarts.js";
import { recreateActor, replaceChild, type StartedChild } from "./replace-child.js";
import { settleSpawnOrder, spawnOrderAt, spawnOrderFor } from "./spawn-orders.js";
import type { SpawnedActors } from "./spawned-actors.js";
import { stopChild, waitWhileAlive } from "./stop-child.js";

export interface SpawnedProcsOptions {
  readonly name: string;
  readonly extent: Extent;
  readonly owner: ActorCell;
  /** Of the processes, and of what is spawned on them unless it is said otherwise there. */
  readonly restart?: RestartPlan | undefined;
  /** Starts a process that takes the place of the one at a rank. */
  readonly start: (procs: SpawnedProcs, rank: number) => StartedChild;
}

export class SpawnedProcs extends ProcGroup implements OwnedMesh, RestartableProcs {
  readonly name: string;
  readonly extent: Extent;
  readonly owner: ActorCell;
  #children: ChildProc[] = [];
  readonly #ready = new Deferred<void>();
  #agents: ProcAgents;
  #stopReason: string | undefined;
  /** How many procs have been replaced. */
  #generation = 0;
  readonly #start: SpawnedProcsOptions["start"];
  /** Ranks that were replaced by processes that are started otherwise. */
  readonly #startOverrides = new Map<number, (rank: number) => StartedChild>();
  readonly #restartPlan: RestartPlan | undefined;
  readonly #restarts: ProcRestarts;
  readonly retiring = new Set<ChildProc>();
  #stopping: Promise<void> | undefined;

  constructor(local: ProcessRuntime, { name, extent, owner, restart, start }: SpawnedProcsOptions) {
    super(local);
    this.#start = start;
    this.#restartPlan = restart;
    this.#restarts = new ProcRestarts(this, restart);
    this.name = name;
    this.extent = extent;
    this.owner = owner;
    this.#agents = new ProcAgents(owner.proc.id, extent, []);
  }

  get proc(): Proc {
    return this.owner.proc;
  }

  get classes(): ActorClasses {
    return this.runtime.platform.classes;
  }

  /** Resolves when all processes have answered and run their bootstrap modules; rejects with why one has not. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  protected override get defaultRestart(): RestartPlan | undefined {
    return this.#restartPlan;
  }

  protected get stopReason(): string | undefined {
    return this.#stopReason;
  }

  /** It has been stopped, or is being. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** All members are there, linked to this proc: they are told what they are. */
  configureChildren(started: readonly StartedChild[]): void {
    const members = started.map(({ child: member }) => member);
    this.#children = members;
    this.#agents = new ProcAgents(this.proc.id, this.extent, members.map(rankLocationOf));
    for (const member of members) this.runtime.children.set(member.id, member);
    this.runtime.ownership.add(this.owner, this);
    this.runtime.registerShutdown();
    const configs = started.map(({ config }) => config);
    runAsRoot(this.proc, () => this.#sendConfigs(configs)).then((answers) => {
      let rank = 0;
      let answered = 0;
      for (const answer of answers) {
        const member = members[rank++]!;
        if (answer.status === "fulfilled") answered++;
        // What ends with its process is told of as that.
        else if (answer.reason instanceof ActorError)
          member.discard({ kind: "spawn", cause: bootFailureCause(answer.reason) });
      }
      if (answered === members.length) this.#ready.resolve();
    });
  }

  locations(region: Region): RankLocation[] {
    return this.#childrenIn(region).map(rankLocationOf);
  }

  childAt(rank: number): ChildProc {
    return this.#children[rank]!;
  }

  installChild(member: ChildProc): void {
    const { rank } = member;
    this.#children[rank] = member;
    this.#agents.setLocation(rank, { ...rankLocationOf(member), generation: ++this.#generation });
    member.isExitExpected = false;
    this.#restarts.childInstalled(member);
  }

  startChild(rank: number): StartedChild {
    const start = this.#startOverrides.get(rank) ?? ((at: number) => this.#start(this, at));
    // As its owner, who gave the options that may be functions.
    return this.#registerStarting(runInTurn(this.owner.turn, () => start(rank)) as StartedChild);
  }

  async announceMove(mesh: SpawnedActors, rank: number, drains: boolean): Promise<void> {
    const { proc } = this;
    const { id, location } = this.#children[baseRank(mesh.region, rank)]!;
    mesh.markRevived(rank);
    const move = { mesh: mesh.record.id, rank, proc: id, location, generation: mesh.incarnationOf(rank), drains };
    await this.runtime.procs.get(proc.id)!.announceMove(move, proc.id);
  }

  sendKnownMoves({ id }: ChildProc): void {
    const { proc, runtime: local } = this;
    // It has sent nothing to where the actors lived before.
    const moves = local.records.moves.map((move) => ({ ...move, drains: false }));
    runAsRoot(proc, () => {
      for (const move of moves) agentOf(id).moved.broadcast(move, proc.id);
    });
  }

  /** Replaces procs, one after another. @throws Error if one cannot be replaced: it and those after it go on as they were */
  async replace(region: Region, start: (rank: number) => StartedChild, drain: number): Promise<void> {
    for (const rank of baseRanks(region)) {
      if (this.#stopReason !== undefined) {
        throw new Error(
          `cannot replace rank ${rank} of mesh "${this.name}": it was stopped${reasonSuffix(this.#stopReason)}`,
        );
      }
      const started = this.#registerStarting(start(rank));
      this.#restarts.addStarting(started.child);
      await replaceChild(this, started, drain);
      this.#startOverrides.set(rank, start);
    }
  }

  async restartActor(mesh: SpawnedActors, rank: number): Promise<void> {
    const member = this.#children[baseRank(mesh.region, rank)]!;
    if (member.exit !== undefined) return;
    const outcome = await recreateActor(this, member, mesh);
    if (mesh.recordRestart(rank, outcome)) await this.announceMove(mesh, rank, false);
  }

  reportLost(rank: number, { kind, cause, at }: PastFailure, lost: readonly LostActor[]): void {
    const affected: AffectedMesh[] = [];
    for (const { mesh, rank: actor } of lost) {
      if (mesh.owner === this.owner) affected.push({ mesh: mesh.name, ranks: [actor] });
      else mesh.reportLost(actor, { kind, cause, at });
    }
    const text = `mesh "${this.name}" is not ready: rank ${rank}: ${cause.message}`;
    this.#ready.reject(new Error(text, { cause: errorFromCause(cause) }));
    const history = this.#restarts.history(rank);
    this.reportFailure(
      this.owner,
      new MeshFailure({ mesh: this.name, ranks: [rank], kind, cause, at, affected, history }),
    );
  }

  protected createActors(mesh: SpawnedActors): void {
    const { actorClass } = mesh.plan;
    for (const { rank, exit: end } of this.#children) {
      const at = end === undefined ? undefined : rankOfBaseRank(mesh.region, rank);
      if (end === undefined || at === undefined) continue;
      if (this.#restarts.willRestart(rank, mesh)) mesh.awaitReplacement(at, end.cause);
      else mesh.markLost(at, end.cause);
    }
    const known = this.classes.referenceOf(actorClass);
    if (known !== undefined) {
      this.#orderActors(mesh, known);
      return;
    }
    const ordered = this.classes.resolve(actorClass).then((actor) => this.#orderActors(mesh, actor));
    mesh.orderLater(ordered.catch((error) => this.#refuseActors(mesh, error)));
  }

  stopActors({ record, region }: SpawnedActors, { reason, drain }: StopOptions): Promise<unknown> {
    const stopOn = ({ rank }: ChildProc) => {
      const agent = this.#agents.atRank(rank);
      return waitWhileAlive(this.proc.clock, agent, drain, agent.stopActor.callOne(record.id, { reason, drain }));
    };
    const running = this.#childrenIn(region).filter(({ exit: end }) => end === undefined);
    return runAsRoot(this.proc, () => Promise.all(running.map(stopOn)));
  }

  stop(options: StopOptions): Promise<void> {
    this.#stopReason ??= options.reason;
    for (const { record } of this.meshes) {
      record.stopReason ??= options.reason;
      // Trees are given up while all their procs are there, and not set up anew around each that ends.
      this.proc.casts.meshStopped(record.id);
    }
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  /** A member has ended. */
  childExited(member: ChildProc, { kind, cause, clean = false }: ProcExit): void {
    this.runtime.children.delete(member.id);
    this.proc.peerDown(member.id, cause.message);
    if (!member.isExitExpected)
      this.#restarts.childExited(member.rank, { kind, cause, at: new Date(this.proc.clock.wall()) }, clean);
  }

  /** Until it has taken its place, its end is no failure of the mesh. */
  #registerStarting(started: StartedChild): StartedChild {
    const { child: member } = started;
    member.isExitExpected = true;
    this.runtime.children.set(member.id, member);
    return started;
  }

  #childrenIn(region: Region): ChildProc[] {
    return [...baseRanks(region)].map((rank) => this.#children[rank]!);
  }

  /** One cast where all are told the same. */
  async #sendConfigs(configs: readonly ProcConfig[]): Promise<readonly Settled<ProcInfo>[]> {
    const [first, ...others] = configs;
    if (first === undefined) return [];
    const same = others.every(({ registry: place, loader }) => place === first.registry && loader === first.loader);
    if (same) return [...(await this.#agents.all().configure.callSettled(first)).values()];
    const tellOne = async (config: ProcConfig, rank: number) => {
      const [answer] = [...(await this.#agents.atRank(rank).configure.callSettled(config)).values()];
      return answer!;
    };
    return Promise.all(configs.map(tellOne));
  }

  #orderActors(mesh: SpawnedActors, actor: ClassReference): void {
    const { region } = mesh;
    const order = spawnOrderFor(mesh, actor);
    const outcomes = runAsRoot(this.proc, () => this.#agents.inRegion(region).createActor.callSettled(order));
    void outcomes.then((all) => {
      let rank = 0;
      for (const outcome of all.values()) void settle(rank++, outcome);
    });
    const settle = async (rank: number, outcome: Settled<SpawnOutcome>) => {
      const agent = this.#agents.atRank(baseRank(region, rank));
      mesh.recordOutcome(
        rank,
        await settleSpawnOrder(this.proc, agent, mesh, spawnOrderAt(order, mesh, rank, 0), outcome),
      );
    };
  }

  /** Resolves when the orders to make the actors of a mesh, and what was sent to those from here, are on their way. */
  async #ordersDelivered(mesh: SpawnedActors): Promise<void> {
    await mesh.isOrdered();
    await Promise.all([this.proc.casts.answered(mesh.record.id), mesh.record.whenSent()]);
  }

  /** The class is none that other processes could load. */
  #refuseActors(mesh: SpawnedActors, error: unknown): void {
    const { record, region, name } = mesh;
    const cause = failureCauseOf(error);
    runAsRoot(this.proc, () => this.#agents.inRegion(region).refuse.broadcast(record.id, name, cause.message));
    mesh.refuseAll(cause);
  }

  async #stop(options: StopOptions): Promise<void> {
    this.#restarts.stop();
    if (!isProgramEnding()) {
      this.#ready.reject(
        new Error(`mesh "${this.name}" was stopped before it was ready${reasonSuffix(options.reason)}`),
      );
    }
    // Ends that have been noticed are told before this is over.
    await new Promise<void>((resolve) => this.proc.clock.soon(resolve));
    const { clock } = this.proc;
    const left = countdown(clock, options.drain);
    // Answers come through other processes: none of those may leave before.
    const answered = Promise.all([...this.meshes].map((mesh) => this.#ordersDelivered(mesh)));
    if (options.drain > 0) await settlesWithin(clock, options.drain, answered);
    const rest = { ...options, drain: left() };
    await runAsRoot(this.proc, () =>
      Promise.all([
        ...this.#children.map((member) => stopChild(member, this.#agents.atRank(member.rank), rest)),
        ...[...this.retiring].map((member) => stopChild(member, agentOf(member.id), rest)),
      ]),
    );
    for (const mesh of [...this.meshes]) mesh.procsStopped(options.reason);
    this.runtime.ownership.remove(this.owner, this);
  }
}

function rankLocationOf({ id, location }: ChildProc): RankLocation {
  return { proc: id, location };
}

/** What went wrong in the process itself, not that a call to its agent failed. */
function bootFailureCause(error: ActorError): ReturnType<typeof failureCauseOf> {
  const { remoteName, message, remoteStack, cause } = error;
  const stack = remoteStack === undefined ? {} : { stack: remoteStack };
  return { name: remoteName, message, ...stack, ...(cause instanceof Error ? { cause: failureCauseOf(cause) } : {}) };
}
