/**
 * A mesh of procs as the process that spawned it sees it: its children, the orders to their agents, and their exits,
 * expected or not. `ProcMesh` is the public handle; `host/mesh/start-procs.ts` decides how a proc is started.
 */

import type { Checkpoint } from "../../../generated/checkpoint.js";
import type { ProcConfig } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import { isProgramEnding } from "../../actor/program-end.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import { type RankLocation, reasonSuffix } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { Location } from "../../link/address.js";
import { baseRanks, type Extent, type Region } from "../../shape/index.js";
import { errorFromCause } from "../../supervise/failure-cause.js";
import { type AffectedMesh, MeshFailure, type PastFailure } from "../../supervise/mesh-failure.js";
import type { OwnedMesh } from "../../supervise/ownership.js";
import type { RestartPlan } from "../../supervise/restart-policy.js";
import { receiveCheckpoint } from "../checkpoint/state-offers.js";
import type { ProcBackend, ProcExit } from "../launch/proc-backend.js";
import type { ActorClasses } from "../platform/platform.js";
import { agentOf, ProcAgents, runAsRoot } from "../proc-agents.js";
import type { ProcessRuntime } from "../process/process-runtime.js";
import type { ChildProc } from "./child-proc.js";
import { checkMembers, type JoiningRank, Membership, type Resizing } from "./membership.js";
import type { MeshSpares } from "./mesh-spares.js";
import { orderFirstActors } from "./order-actors.js";
import { ProcGroup } from "./proc-group.js";
import { ProcReplacements, type StartProc, type UpgradedProcs } from "./proc-replacements.js";
import { type LostActor, ProcRestarts, type RestartableProcs } from "./proc-restarts.js";
import { configureAll, type ProcStart, ProcStarts } from "./proc-starts.js";
import { recreateActor, type StartedChild } from "./replace-child.js";
import { leaveProcs, leaveReason, type ResizableProcs, resizeActors } from "./resize-procs.js";
import type { SpawnedActors } from "./spawned-actors.js";
import { waitWhileAlive } from "./stop-child.js";
import { stopProcs } from "./stop-procs.js";

export interface SpawnedProcsOptions {
  readonly name: string;
  readonly extent: Extent;
  readonly owner: LocalActor;
  /** The restart policy of the processes, and of meshes of actors on them that have no policy of their own. */
  readonly restart?: RestartPlan | undefined;
  /** The spares on this machine. Absent: there are none. */
  readonly spares?: MeshSpares | undefined;
  /** Starts a process that replaces the one at a rank. */
  readonly start: (procs: SpawnedProcs, rank: number) => StartedChild;
  /** Describes how `start` would start a process, so that another process can do it. Absent: that is not possible. */
  readonly describeStart?: (procs: SpawnedProcs, rank: number) => StartDescription;
  /** Returns the wait for the host of a rank that was lost and may come back. Absent: hosts do not come back. */
  readonly hostComeback?: (procs: SpawnedProcs, rank: number) => Promise<void> | undefined;
}

/** How a process on an attached host is started. */
export interface StartDescription {
  readonly location: Location;
  readonly label: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execArgv: readonly string[];
  readonly cpus: string | undefined;
  /** The working directory; undefined selects that of the host. */
  readonly cwd: string | undefined;
  readonly config: ProcConfig;
}

export class SpawnedProcs extends ProcGroup implements OwnedMesh, RestartableProcs, ResizableProcs, UpgradedProcs {
  readonly name: string;
  readonly extent: Extent;
  readonly owner: LocalActor;
  readonly proc: Proc;
  #children: ChildProc[] = [];
  #agents: ProcAgents;
  #stopReason: string | undefined;
  /** Number of procs that have been replaced. */
  #generation = 0;
  readonly restartPlan: RestartPlan | undefined;
  readonly #describeStart: SpawnedProcsOptions["describeStart"];
  readonly #hostComeback: SpawnedProcsOptions["hostComeback"];
  readonly #restarts: ProcRestarts;
  readonly #replacements: ProcReplacements;
  readonly retiring = new Set<ChildProc>();
  /** The ranks of the mesh. */
  readonly members: Membership;
  #stopping: Promise<void> | undefined;
  readonly #spares: MeshSpares | undefined;

  readonly #starts: ProcStarts;
  readonly #firstStart: ProcStart;

  constructor(runtime: ProcessRuntime, options: SpawnedProcsOptions) {
    const { name, extent, owner, restart, start } = options;
    super(runtime);
    this.#replacements = new ProcReplacements(this, (rank) => start(this, rank));
    this.restartPlan = restart;
    this.#describeStart = options.describeStart;
    this.#hostComeback = options.hostComeback;
    this.#restarts = new ProcRestarts(this, restart);
    this.#spares = options.spares;
    this.name = name;
    this.extent = extent;
    this.owner = owner;
    this.proc = runtime.procOf(owner);
    this.#agents = new ProcAgents(owner.proc.id, extent, []);
    this.members = new Membership(extent);
    this.#starts = new ProcStarts((child) => this.#children[child.rank] === child && !this.members.hasLeft(child.rank));
    this.#firstStart = this.#starts.add(baseRanks(this.members.region));
  }

  get classes(): ActorClasses {
    return this.runtime.platform.classes;
  }

  /**
   * Resolves when all processes have been configured and have run their bootstrap modules; rejects with the reason if
   * one has not.
   */
  get ready(): Promise<void> {
    return this.#firstStart.ready.promise;
  }

  /** Whether `replace` is under way. */
  get isReplacing(): boolean {
    return this.#replacements.isReplacing;
  }

  protected override get defaultRestart(): RestartPlan | undefined {
    return this.restartPlan;
  }

  get stopReason(): string | undefined {
    return this.#stopReason;
  }

  /** Whether the mesh is being stopped or has been stopped. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** The ranks whose processes are being restarted. */
  get restartingRanks(): readonly number[] {
    return this.#restarts.pending;
  }

  /** Describes how a process for a rank is started. @throws Error if another process could not start it */
  describeStart(rank: number): StartDescription {
    if (this.#describeStart === undefined) throw new Error(`mesh "${this.name}" is not on attached hosts`);
    return this.#describeStart(this, rank);
  }

  /** Takes the children of another process, which has configured them and has owned this mesh before. */
  adoptChildren(children: readonly ChildProc[]): void {
    this.#register(children);
    this.#firstStart.ready.resolve();
  }

  /** Gives the processes up, because another process owns them from now on. Nothing that happens to them is a failure. */
  giveUp(reason: string): void {
    this.#stopReason ??= reason;
    this.#stopping ??= Promise.resolve();
    this.#restarts.stop();
    this.#spares?.end();
    this.#starts.rejectAll(new Error(`mesh "${this.name}" was given up${reasonSuffix(reason)}`));
    for (const mesh of [...this.meshes]) mesh.procsStopped(reason);
    for (const child of this.#children) {
      child.isExitExpected = true;
      this.runtime.children.delete(child.id);
    }
    this.runtime.ownership.remove(this.owner, this);
  }

  /** Takes the started children, which have links to this proc, and sends them their configurations. */
  configureChildren(started: readonly StartedChild[]): void {
    const children = started.map(({ child }) => child);
    this.#register(children);
    const configs = started.map(({ config }) => config);
    const answers = runAsRoot(this.proc, () => configureAll(this.#agents, configs));
    void this.#starts.await(this.#firstStart, children, answers);
  }

  /**
   * Gives the mesh another extent.
   * @param start starts the procs that join. If it throws, nothing has changed
   * @param drain the time in ms in which procs that leave still handle messages
   * @returns the region of the whole mesh, and a promise that resolves when the new procs have started and the others
   * have ended
   */
  resize(
    extent: Extent,
    start: (joining: readonly JoiningRank[]) => readonly StartedChild[],
    drain: number,
  ): { readonly region: Region; readonly ready: Promise<void> } {
    const resizing = this.members.plan(extent);
    const started = resizing.joining.length === 0 ? [] : start(resizing.joining);
    const leaving = resizing.leaving.map((rank) => this.#children[rank]!);
    const left = leaving.length === 0 ? undefined : this.#leave(leaving, leaveReason(this.name, extent), drain);
    this.members.apply(resizing);
    const joined = started.length === 0 ? undefined : this.#join(resizing, started);
    const ready = Promise.all([joined, left]).then(() => {});
    ready.catch(() => {});
    return { region: resizing.region, ready };
  }

  /** Returns whether one of the procs lives at one of the given locations. */
  livesAt(locations: ReadonlySet<Location>): boolean {
    return this.#children.some(({ location, rank }) => locations.has(location) && this.members.has(rank));
  }

  /**
   * Has the procs at a location leave, because their host leaves its mesh. The mesh keeps its extent until it is resized.
   * Never rejects.
   * @param drain the time in ms in which they still handle messages
   */
  leaveLocation(location: Location, reason: string, drain: number): Promise<void> {
    const leaving = this.#children.filter((child) => child.location === location && this.members.has(child.rank));
    if (leaving.length === 0 || this.isStopping) return this.#stopping ?? Promise.resolve();
    this.members.remove(leaving.map(({ rank }) => rank));
    return this.#leave(leaving, reason, drain);
  }

  /** Gives a mesh of actors on these procs the extent of this mesh. @returns the region of the whole mesh of actors */
  resizeActors(mesh: SpawnedActors): Region {
    return resizeActors(this, mesh);
  }

  willRestart(rank: number, mesh: SpawnedActors): boolean {
    return this.#restarts.willRestart(rank, mesh);
  }

  locations(region: Region): RankLocation[] {
    return Array.from(baseRanks(region), (rank) => rankLocationOf(this.#children[rank]!));
  }

  /** Returns the backends of the procs of a region, in rank order. */
  backends(region: Region): readonly ProcBackend[] {
    return Array.from(baseRanks(region), (rank) => this.#children[rank]!.backend);
  }

  childAt(rank: number): ChildProc {
    return this.#children[rank]!;
  }

  installChild(child: ChildProc): void {
    const { rank } = child;
    this.#children[rank] = child;
    this.#agents.setLocation(rank, { ...rankLocationOf(child), generation: ++this.#generation });
    child.isExitExpected = false;
    this.#restarts.childInstalled(child);
  }

  startChild(rank: number): StartedChild {
    return this.#replacements.startChild(rank);
  }

  rankRestarted(rank: number): void {
    this.#starts.rankRestarted(rank);
  }

  hostComeback(rank: number): Promise<void> | undefined {
    return this.#hostComeback?.(this, rank);
  }

  addStarting(child: ChildProc): void {
    this.#restarts.addStarting(child);
  }

  async announceMove(mesh: SpawnedActors, rank: number, drains: boolean): Promise<void> {
    const { proc } = this;
    const { id, location } = this.#children[mesh.members.procOf(rank)]!;
    mesh.markRevived(rank);
    const generation = mesh.failures.incarnationOf(rank);
    const move = { mesh: mesh.record.id, rank, proc: id, location, generation, drains };
    await this.runtime.procs.get(proc.id)!.announceMove(move, proc.id);
  }

  sendKnownMoves({ id }: ChildProc): void {
    const { proc, runtime } = this;
    // This process has sent nothing to the earlier locations.
    const moves = runtime.records.moves.map(({ left, ...move }) => ({
      ...move,
      drains: false,
      ...(left !== undefined && { left }),
    }));
    runAsRoot(proc, () => {
      for (const move of moves) agentOf(id).moved.broadcast(move, proc.id);
    });
  }

  /**
   * Replaces procs, one after another.
   * @param keepsState whether actors that can save their state pass it on, also without a restart policy
   * @throws Error if a proc cannot be replaced; it and the procs after it continue unchanged
   */
  async replace(region: Region, start: StartProc, drain: number, keepsState = false): Promise<void> {
    this.checkMembers(region, `cannot replace processes of "${this.name}"`);
    await this.#replacements.replace(region, start, drain, keepsState);
  }

  renewActor(mesh: SpawnedActors, rank: number): void {
    this.#replacements.renew(mesh.members.procOf(rank));
  }

  async restartActor(mesh: SpawnedActors, rank: number): Promise<void> {
    const child = this.#children[mesh.members.procOf(rank)]!;
    if (child.exit !== undefined) return;
    const outcome = await recreateActor(this, child, mesh);
    if (mesh.recordRestart(rank, outcome)) await this.announceMove(mesh, rank, false);
  }

  reportLost(rank: number, { kind, cause, at }: PastFailure, lost: readonly LostActor[]): void {
    const affected: AffectedMesh[] = [];
    for (const { mesh, rank: actor } of lost) {
      if (mesh.owner === this.owner) affected.push({ mesh: mesh.name, ranks: [actor] });
      else mesh.failures.reportLost(actor, { kind, cause, at });
    }
    const text = `mesh "${this.name}" is not ready: rank ${rank}: ${cause.message}`;
    this.#starts.rankLost(rank, new Error(text, { cause: errorFromCause(cause) }));
    const history = this.#restarts.history(rank);
    this.reportFailure(
      this.owner,
      new MeshFailure({ mesh: this.name, ranks: [rank], kind, cause, at, affected, history }),
    );
  }

  protected createActors(mesh: SpawnedActors): void {
    for (const { rank, exit } of this.#children) {
      const at = exit === undefined ? undefined : mesh.members.rankOn(rank);
      if (exit === undefined || at === undefined) continue;
      if (this.#restarts.willRestart(rank, mesh)) mesh.failures.awaitReplacement(at, exit.cause);
      else mesh.failures.markLost(at, exit.cause);
    }
    orderFirstActors(this, this.#agents, mesh);
    if (mesh.failures.restartsRanks) this.#spares?.expectRestarts();
  }

  saveActor({ record, members }: SpawnedActors, rank: number): Promise<Checkpoint> {
    const agent = this.#agents.atRank(members.procOf(rank));
    const taken = runAsRoot(this.proc, () => agent.takeCheckpoint.callOne(record.id));
    return taken.then((carried) => receiveCheckpoint(this.proc, carried));
  }

  stopActors({ record, members }: SpawnedActors, { reason, drain }: StopOptions): Promise<unknown> {
    const stopOn = ({ rank }: ChildProc) => {
      const agent = this.#agents.atRank(rank);
      return waitWhileAlive(this.proc.clock, agent, drain, agent.stopActor.callOne(record.id, { reason, drain }));
    };
    const running = members.procs.map((rank) => this.#children[rank]!).filter(({ exit }) => exit === undefined);
    return runAsRoot(this.proc, () => Promise.all(running.map(stopOn)));
  }

  stop(options: StopOptions): Promise<void> {
    this.#stopReason ??= options.reason;
    for (const { record } of this.meshes) {
      record.stopReason ??= options.reason;
      // Casting trees are given up while all procs still run; otherwise the end of each proc would rebuild them.
      this.proc.casts.meshStopped(record.id);
    }
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  /** Handles the exit of a child: restarts it or reports a failure, unless the child was told to end. */
  childExited(child: ChildProc, { kind, cause, clean = false }: ProcExit): void {
    if (child.isExitExpected) return;
    this.#restarts.childExited(child.rank, { kind, cause, at: new Date(this.proc.clock.epochMs()) }, clean);
  }

  override checkMembers(region: Region, failed: string): void {
    checkMembers(this, region, failed);
  }

  #register(children: readonly ChildProc[]): void {
    this.#children = [...children];
    this.#agents = new ProcAgents(this.proc.id, this.extent, children.map(rankLocationOf));
    this.runtime.ownership.add(this.owner, this);
    this.runtime.registerShutdown();
  }

  /** Installs the procs that join, and sends them their configurations. */
  async #join({ joining }: Resizing, started: readonly StartedChild[]): Promise<void> {
    const children = started.map(({ child }) => child);
    const start = this.#starts.add(joining.map(({ number }) => number));
    for (const child of children) {
      this.#replacements.rankJoined(child.rank);
      this.installChild(child);
    }
    const configured = started.map(({ child, config }) =>
      runAsRoot(this.proc, () => agentOf(child.id).configure.callSettled(config)),
    );
    for (const child of children) this.sendKnownMoves(child);
    const answers = Promise.all(configured).then((all) => all.flatMap((each) => [...each.values()]));
    void this.#starts.await(start, children, answers);
    try {
      await start.ready.promise;
    } finally {
      this.#starts.remove(start);
    }
  }

  #leave(leaving: readonly ChildProc[], reason: string, drain: number): Promise<void> {
    for (const { rank } of leaving) this.#restarts.rankLeaves(rank);
    return leaveProcs(this, leaving, reason, drain);
  }

  async #stop(options: StopOptions): Promise<void> {
    this.#restarts.stop();
    this.#spares?.end();
    if (!isProgramEnding()) {
      const error = new Error(`mesh "${this.name}" was stopped before it was ready${reasonSuffix(options.reason)}`);
      this.#starts.rejectAll(error);
    }
    await stopProcs(this, this.#children, this.#agents, options);
    for (const mesh of [...this.meshes]) mesh.procsStopped(options.reason);
    this.runtime.ownership.remove(this.owner, this);
  }
}

function rankLocationOf({ id, location }: ChildProc): RankLocation {
  return { proc: id, location };
}
