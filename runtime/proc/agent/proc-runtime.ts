/**
 * One proc of this operating-system process, together with its reports to other procs: actors that were created or have
 * failed, and peers that are gone. A process may have several procs: that of the code outside of actors, and those with
 * inline isolation.
 */

import type { Checkpoint } from "../../../generated/checkpoint.js";
import type { ActorMove, HostKey, RankStatus } from "../../../generated/proc-agent.js";
import type { ActorNotice } from "../../../generated/supervision.js";
import { runInTurn } from "../../actor/context.js";
import { Proc } from "../../actor/proc/proc.js";
import type { ActorFailure } from "../../actor/reference/actor-failure.js";
import type { ActorRequest, ActorSpec, WatchLimits } from "../../actor/reference/actor-request.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import type { ActorTarget } from "../../actor/reference/mesh-record.js";
import type { ProcHooks } from "../../actor/reference/proc-hooks.js";
import type { SavedState, StateCopier } from "../../actor/reference/saved-state.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { Undeliverable } from "../../actor/reference/undeliverable.js";
import { AGENT_MESH, formatId, type Location, type MeshId, type ProcId } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import type { LinkUse } from "../../link/handshake/message.js";
import { noKeepAlive } from "../../link/keep-alive.js";
import type { NetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { Extent } from "../../shape/index.js";
import { thrownMessage, thrownStack } from "../../thrown.js";
import { carryCheckpoint, stateOffersOf } from "../checkpoint/state-offers.js";
import { formatFatalLine } from "../launch/fatal-line.js";
import type { Platform } from "../platform/platform.js";
import { agentOf, runAsRoot } from "../proc-agents.js";
import type { HostKeyring } from "../remote/host-keyring.js";
import { HostWatch } from "../remote/host-watch.js";
import type { HostedBackend } from "../remote/hosted-backend.js";
import type { HostedLocation } from "../remote/hosted-location.js";
import { openLinkPort } from "../remote/link-port.js";
import { type ActorIncarnation, actorNoticeOf } from "./actor-notice.js";
import { blameActor } from "./blame-actor.js";
import type { MemoryService } from "./memory-service.js";
import { whileLoading } from "./module-loading.js";
import { MovedActor } from "./moved-actor.js";
import { ProcDialer } from "./proc-dialer.js";
import type { AgentRole, ProcServices } from "./proc-services.js";
import type { PublishedMeshes } from "./published-meshes.js";

/**
 * Delay in ms before the proc listens. The work for which the process was started comes first, and listening loads
 * modules that nothing else needs.
 */
const listenDelay = 100;

/** @param code the exit code; undefined for an exit in order */
export type EndProc = (reason: string, code?: number) => void;

type OnCreated = (failure: ActorFailure | undefined) => void;

export interface ProcRuntimeOptions {
  readonly id: ProcId;
  readonly parent?: ProcId;
  /** The proc that started this proc on behalf of its parent. This proc ends without it. */
  readonly launcher?: ProcId;
  readonly rank: number;
  readonly extent: Extent;
  readonly runDir: string;
  /** The location of the proc if it does not listen. */
  readonly relayed?: Location;
  /** Ends the proc: on request, after the end of its parent, or with an exit code after a fault. */
  readonly endProc: EndProc;
  /** Returns the agent of the proc. */
  readonly agent: (runtime: ProcRuntime) => AgentRole;
}

export class ProcRuntime implements ProcHooks {
  readonly proc: Proc;
  readonly #services: ProcServices;
  readonly #parent: ProcId | undefined;
  readonly #launcher: ProcId | undefined;
  readonly #runDir: string;
  readonly #endProc: EndProc;
  /** The reason why this proc has given up the link to its parent or launcher. */
  #linkFault: Error | undefined;
  #hostWatch: HostWatch | undefined;
  /** Whether the host on which this proc runs has said that the driver has ended. */
  #hasDriverEnded = false;
  readonly #dialer: ProcDialer;
  readonly #creating = new Map<MeshId, OnCreated>();
  /** The reported failures of actors that have not been created again. */
  readonly #failures = new Map<MeshId, ActorNotice>();

  constructor(services: ProcServices, options: ProcRuntimeOptions) {
    const { id, parent, launcher, rank, extent, runDir } = options;
    const { platform } = services;
    this.#runDir = runDir;
    this.#services = services;
    this.#parent = parent;
    this.#launcher = launcher;
    this.#endProc = options.endProc;
    this.proc = new Proc({
      id,
      universe: services.universe,
      clock: platform.clock,
      random: platform.random,
      drops: platform.drops,
      records: services.records,
      hooks: this,
      location: options.relayed ?? services.locationOf(runDir, id),
      ...(parent === undefined ? {} : { parent, parentConnects: launcher !== undefined }),
      keepAlive: parent === undefined ? platform.keepAlive : noKeepAlive,
      connect: (location, peer) => this.#dialer.dial(location, peer),
      locate: (peer) => platform.locationOf(runDir, peer),
      accept: (pipe, from) => this.#dialer.accept(pipe, from),
    });
    this.#dialer = new ProcDialer(this.proc, services, parent);
    this.proc.context = { ...this.proc.context, rank };
    this.#creating.set(AGENT_MESH, () => {});
    const agent = { mesh: AGENT_MESH, incarnation: 0, name: "agent", owner: id, rank, extent };
    this.proc.createActor({ ...agent, ...options.agent(this) });
  }

  /** The proc that started this proc; undefined in a program. */
  get parent(): ProcId | undefined {
    return this.#parent;
  }

  /** The proc that orders the actors here, except those that actors here spawn on their own proc. */
  get parentOrSelf(): ProcId {
    return this.#parent ?? this.proc.id;
  }

  /** The platform of this process. */
  get platform(): Platform {
    return this.#services.platform;
  }

  /** Answers for the registered memory of this process. */
  get memory(): MemoryService {
    return this.#services.memoryService;
  }

  /** The meshes that this process has published or looked up. */
  get publishedMeshes(): PublishedMeshes {
    return this.#services.publishedMeshes;
  }

  /** Runs user code that belongs to no actor. */
  runOutsideActors<T>(body: () => T): T {
    return runInTurn(this.proc.root.turn, body) as T;
  }

  /** Loads modules of actors. */
  runWhileLoading<T>(load: () => T): T {
    return whileLoading(this.proc.root, load);
  }

  /**
   * Watches the event loop of a child process. The event loop of a program is not watched, because the program may
   * block it for its own reasons.
   */
  watchEventLoop(limits: WatchLimits): void {
    if (!this.#services.isProgram) this.platform.watchEventLoop?.(limits);
  }

  /** Lets other procs of the tree connect to this proc directly. */
  listen(): void {
    if (this.#runDir !== "") this.platform.clock.after(listenDelay, () => this.#listen());
  }

  /** Takes the link of a peer on another machine that has identified itself. */
  accept(pipe: Pipe, from: ProcId): void {
    this.#dialer.accept(pipe, from);
  }

  /** Takes a connection from a peer on another machine that carries memory bytes only. */
  acceptMemory(pipe: Pipe): void {
    this.#services.memoryService.accept(pipe);
  }

  /** Lets procs on other hosts connect to this proc directly. @returns the port; rejects when the proc cannot listen */
  openLinkPort(at: NetworkAddress): Promise<number> {
    return openLinkPort(this.platform, this, this.hostKeyring.own, at);
  }

  #listen(): void {
    this.platform
      .listen(this.platform.locationOf(this.#runDir, this.proc.id), (pipe) => this.proc.attach(pipe))
      .catch(() => {
        // Peers that cannot connect directly reach this proc through its parent.
      });
  }

  /** Connects to a proc on a host, or returns undefined if it can only be reached through another proc. */
  dialDirectly(to: HostedLocation, peer: ProcId, use: LinkUse): Promise<Pipe | undefined> {
    return this.#dialer.dialDirectly(to, peer, use);
  }

  /** The watch over hosts for the parent of this proc. */
  get hostWatch(): HostWatch {
    const report = (host: ProcId, reason: string) =>
      runAsRoot(this.proc, () => agentOf(this.parentOrSelf).hostLeft.broadcast(host, reason));
    this.#hostWatch ??= new HostWatch(this.proc, this.platform, this.hostKeyring, report);
    return this.#hostWatch;
  }

  /** Returns the process that a host has started for this process. */
  hostedBackendOf(proc: ProcId): HostedBackend | undefined {
    return this.#services.hostedBackends.get(proc);
  }

  /** Ends the proc, because its host knows that the driver has ended. */
  driverEnded(reason: string): void {
    this.#hasDriverEnded = true;
    this.endSoon(reason);
  }

  /**
   * Whether the end of this proc tells the hosts that it watches that the driver has ended. The end of a proc on a driver gateway does
   * not, unless the gateway knows that the driver has ended: a gateway ends while its driver goes on, and a driver that has lost its
   * gateway closes its link to this proc.
   */
  get tellsHosts(): boolean {
    return this.#launcher === undefined || this.#hasDriverEnded;
  }

  /**
   * Handles the loss of a host that was attached from here or by the driver, with the procs on it.
   * @param from the proc that reports the loss
   */
  handleHostLeft(host: ProcId, reason: string, procs: readonly ProcId[], from: ProcId): void {
    // Another process watches the hosts in its place.
    if (this.#services.children.get(from)?.isExitExpected === true) return;
    const attached = this.#services.attachedHosts.get(host);
    if (attached === undefined) this.#services.handleHostGone(host, reason, procs);
    else attached.markLost(reason);
  }

  /** The credentials that this process presents to hosts. */
  get hostKeyring(): HostKeyring {
    return this.#services.hostKeyring;
  }

  /** Adds the credentials for hosts that a process above has attached. */
  addHostKey(key: HostKey): void {
    this.#services.addHostKey(key);
  }

  /** Creates an actor and waits for its constructor and `init`. Throws if the mesh already has an actor here. */
  createActor(request: ActorRequest): Promise<ActorFailure | undefined> {
    return new Promise((resolve) => this.createActorNow(request, resolve));
  }

  /** @param created called once, possibly before this method returns */
  createActorNow(request: ActorRequest, created: OnCreated): void {
    this.#creating.set(request.mesh, created);
    this.#failures.delete(request.mesh);
    this.platform.interceptUncaughtErrors?.((error) => blameActor(this.platform, error));
    this.proc.createActor(request);
  }

  /** Records that an actor will not be created. */
  refuseActor(shape: ActorSpec, failure: ActorFailure): void {
    const before = this.proc.cell(shape.mesh);
    if (before === undefined || before.ended !== undefined) this.proc.refuseActor(shape, failure);
  }

  /** Saves the state of the actor of a mesh. Rejects if there is no such actor, or its state cannot be saved. */
  async saveActor(mesh: MeshId, copy?: StateCopier): Promise<Checkpoint> {
    const cell = this.proc.cell(mesh);
    if (cell === undefined || mesh === AGENT_MESH) {
      throw new DeliveryError("unknown", "there is no such actor, or not any more");
    }
    return cell.lifecycle.save(copy);
  }

  /** Stores the last checkpoint of an actor of a mesh that was spawned here. Rejects if it is not stored. */
  async storeCheckpoint({ mesh, rank, incarnation }: ActorIncarnation, checkpoint: Checkpoint): Promise<void> {
    const spawned = this.#services.spawnedActors.get(mesh);
    if (spawned === undefined) throw new Error("its mesh does not exist any more");
    await spawned.storeLastState(rank, incarnation, checkpoint);
  }

  async stopActor(mesh: MeshId, options: StopOptions): Promise<void> {
    const cell = this.proc.cell(mesh);
    this.#failures.delete(mesh);
    if (cell !== undefined && mesh !== AGENT_MESH) await this.proc.stopActor(cell, options);
  }

  /** Stops all actors of this proc, and everything that they and the root own. */
  async stopActors(options: StopOptions): Promise<void> {
    const actors = [...this.proc.cells()].filter(({ mesh }) => mesh !== AGENT_MESH);
    await Promise.all(actors.map((cell) => this.proc.stopActor(cell, options)));
    await this.#services.ownership.stopOwned(this.proc.root, options);
    if (this.tellsHosts) await this.#hostWatch?.driverEnded("the driver has ended");
  }

  /** Ends the proc after the answers of this turn have been sent. */
  endSoon(reason: string): void {
    this.proc.clock.nextTurn(() => this.#endProc(reason));
  }

  /** Announces the move of an actor to all processes of the tree. Never rejects. */
  announceMove(move: ActorMove, from: ProcId): Promise<void> {
    return this.#services.announceMove(move, from);
  }

  targetDown(target: ActorTarget): void {
    this.#services.recoveryWatch.watch(target, this.proc);
  }

  /** Returns the status of an actor of a mesh that was spawned or looked up here. */
  rankStatus(mesh: MeshId, rank: number): RankStatus {
    const { spawnedActors, publishedMeshes } = this.#services;
    return spawnedActors.get(mesh)?.statusOf(rank) ?? publishedMeshes.statusOf(mesh, rank) ?? { state: "lost" };
  }

  /** The failures of actors that were reported to the proc that ordered them. */
  get failures(): ActorNotice[] {
    return [...this.#failures.values()];
  }

  handleNotice(notice: ActorNotice): void {
    this.#services.spawnedActors.get(notice.mesh)?.recordFailure(notice);
  }

  /** Handles that an actor of a mesh that was spawned here has handled as many messages as its order allows. */
  handleCallsSpent({ mesh, rank, incarnation }: ActorIncarnation): void {
    this.#services.spawnedActors.get(mesh)?.recordCallsSpent(rank, incarnation);
  }

  /** Has the actor of a mesh, which has moved, pass its messages on to the actor in the new process. */
  passOn(mesh: MeshId): void {
    const cell = this.proc.cell(mesh);
    if (cell !== undefined) cell.inbound.passOn(new MovedActor(this.proc, cell.spec));
  }

  actorStarted(cell: LocalActor): void {
    this.#settleCreation(cell, undefined);
  }

  actorFailed(cell: LocalActor, failure: ActorFailure): void {
    if (this.#settleCreation(cell, failure)) return;
    const notice = actorNoticeOf(cell.id, failure);
    const { owner } = cell.spec;
    if (this.#services.spawnedActors.has(cell.mesh)) this.handleNotice(notice);
    else if (cell.mesh === AGENT_MESH) this.#agentFailed(failure);
    else {
      this.#failures.set(cell.mesh, notice);
      runAsRoot(this.proc, () => agentOf(owner).failed.broadcast(notice));
    }
  }

  stopOwned(cell: LocalActor, options: StopOptions): Promise<void> {
    this.#services.ownership.close(cell);
    return this.#services.ownership.stopOwned(cell, options);
  }

  async storeLastState(cell: LocalActor, saved: SavedState): Promise<void> {
    const { mesh, rank, incarnation } = cell.id;
    if (this.#services.spawnedActors.has(mesh)) return this.storeCheckpoint(cell.id, saved);
    const owner = runAsRoot(this.proc, () => agentOf(cell.spec.owner));
    const carried = carryCheckpoint(this.proc, saved);
    try {
      await runAsRoot(this.proc, () => owner.storeLastCheckpoint.callOne(mesh, rank, incarnation, carried));
    } finally {
      stateOffersOf(this.proc).drop(carried.offer?.id);
    }
  }

  lastStateLost(cell: LocalActor, error: unknown): void {
    const text = `cannot store the last checkpoint of ${cell.name}: ${thrownMessage(error)}`;
    this.platform.warn(text, "ViceroyCheckpoint");
  }

  callsSpent(cell: LocalActor): void {
    const { mesh, rank, incarnation } = cell.id;
    if (this.#services.spawnedActors.has(mesh)) this.handleCallsSpent(cell.id);
    else runAsRoot(this.proc, () => agentOf(cell.spec.owner).callsSpent.broadcast(mesh, rank, incarnation));
  }

  handlerSlow(_cell: LocalActor, message: string): void {
    this.platform.warn(message, "ViceroySlow");
  }

  cleanupFailed(cell: LocalActor, error: unknown): void {
    this.platform.print(`cleanup of ${cell.name} threw: ${thrownStack(error)}\n`);
  }

  meshOrdered(mesh: MeshId): Promise<boolean> {
    return this.#services.spawnedActors.get(mesh)?.isOrdered() ?? Promise.resolve(false);
  }

  peerLost(peer: ProcId, error: Error | undefined, fault?: Error): string | Promise<string> {
    if (peer === this.#parent || peer === this.#launcher) this.#linkFault = fault;
    const child = this.#services.children.get(peer);
    return child?.linkEnded() ?? `process ${formatId(peer)} has ended: ${error?.message ?? ""}`;
  }

  peerDown(peer: ProcId, reason: string): void {
    if (peer === this.#parent) this.#endAsOrphan("its parent");
    else if (peer === this.#launcher) this.#endAsOrphan("the agent of its host");
    else {
      this.#services.attachedHosts.get(peer)?.markLost(reason);
      this.#services.memoryService.peerGone(peer, reason);
    }
  }

  undeliverable(cell: LocalActor, { to, reason, message }: Undeliverable): void {
    // Owners are told about ends of actors and processes; the other reasons are mistakes in the program.
    if (reason !== "unknown" && reason !== "refused") return;
    this.platform.warn(`${cell.name} cannot deliver ${to}: ${message}`, "ViceroyUndeliverable");
  }

  /** Ends the proc after its agent has failed: without the agent it cannot be controlled. */
  #agentFailed({ error }: ActorFailure): void {
    this.platform.print(`the agent has failed: ${thrownStack(error)}\n`);
    this.#endProc("its agent has failed", 1);
  }

  /**
   * Ends the proc after the loss of its parent or launcher. If this proc gave up the link itself, the end is a failure.
   */
  #endAsOrphan(whom: string): void {
    if (this.#linkFault === undefined) {
      this.#endProc(`${whom} has ended`);
      return;
    }
    const why = formatFatalLine(`cannot continue: this process has closed the link to ${whom}`);
    this.platform.print(`${why}${thrownStack(this.#linkFault)}\n`);
    this.#endProc(`this process has closed the link to ${whom}`, 1);
  }

  #settleCreation(cell: LocalActor, failure: ActorFailure | undefined): boolean {
    const created = this.#creating.get(cell.mesh);
    if (created === undefined) return false;
    this.#creating.delete(cell.mesh);
    created(failure);
    return true;
  }
}
