/**
 * One proc of this operating-system process with what it tells upwards: actors that have come to be or failed, peers that
 * are gone. Several may live here: the one that code outside actors belongs to, and those with inline isolation.
 */

import { type ActorMove, type HostProof, procAgentDescriptor, type RankStatus } from "../../../generated/proc-agent.js";
import type { ActorNotice } from "../../../generated/supervision.js";
import type { ActorCell, ActorSpec } from "../../actor/cell/actor-cell.js";
import type { WatchLimits } from "../../actor/cell/watchdog.js";
import { currentTurn, runInTurn } from "../../actor/context.js";
import { Proc } from "../../actor/proc/proc.js";
import type { ActorTarget } from "../../actor/reference/mesh-record.js";
import type {
  ActorClass,
  ActorFailure,
  ActorRequest,
  ProcHooks,
  StopOptions,
  Undeliverable,
} from "../../actor/reference/proc-hooks.js";
import { AGENT_MESH, hex64, type Location, type MeshId, type ProcId } from "../../link/address.js";
import type { LinkUse } from "../../link/handshake/message.js";
import { noKeepAlive } from "../../link/keep-alive.js";
import type { NetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import type { Extent } from "../../shape/index.js";
import { thrownStack } from "../../thrown.js";
import { Deferred } from "../deferred.js";
import { formatFatalLine } from "../launch/fatal-line.js";
import type { Platform } from "../platform/platform.js";
import { agentOf, runAsRoot } from "../proc-agents.js";
import type { ProcessRuntime } from "../process/process-runtime.js";
import { connectToHost } from "../remote/host-connection.js";
import { HostWatch } from "../remote/host-watch.js";
import type { HostedBackend } from "../remote/hosted-backend.js";
import { type HostedLocation, parentLocation, parseHostedLocation } from "../remote/hosted-location.js";
import { openLinkPort } from "../remote/link-port.js";
import { actorNoticeOf } from "./actor-notice.js";
import type { MemoryService } from "./memory-service.js";
import { whileLoading } from "./module-loading.js";
import { ProcAgent } from "./proc-agent.js";

/** How long a host may take to let this process in before it is reached through the driver, in ms. */
const hostDialLimitMs = 3000;

/** In ms: what a process was started for comes first, and listening loads modules that nothing else needs. */
const listenDelay = 100;

/** @param code the exit code; undefined: it ends in order */
export type EndProc = (reason: string, code?: number) => void;

type OnCreated = (failure: ActorFailure | undefined) => void;

/** The actor with mesh id 0: what a proc is asked for by those who made it. */
export type AgentRole = Pick<ActorRequest, "descriptor" | "actorClass" | "args">;

export interface ProcRuntimeOptions {
  readonly id: ProcId;
  readonly parent?: ProcId;
  /** Without it, too, this proc is of no use. */
  readonly launcher?: ProcId;
  readonly rank: number;
  readonly extent: Extent;
  readonly runDir: string;
  /** How the proc leaves: when it was told to, when its maker is gone, or with an exit code when it cannot go on. */
  readonly endProc: EndProc;
  /** Undefined: that of a process which holds actors. */
  readonly agent?: AgentRole | undefined;
}

export class ProcRuntime implements ProcHooks {
  readonly proc: Proc;
  readonly #services: ProcessRuntime;
  readonly #parent: ProcId | undefined;
  readonly #launcher: ProcId | undefined;
  readonly #runDir: string;
  readonly #endProc: EndProc;
  /** Why it has given up the link to whoever it depends on. */
  #linkFault: Error | undefined;
  #hostWatch: HostWatch | undefined;
  /** There is something to be sent to the maker, which has not connected yet. */
  #awaitedParentPipe: Deferred<Pipe> | undefined;
  readonly #creating = new Map<MeshId, OnCreated>();

  constructor(local: ProcessRuntime, options: ProcRuntimeOptions) {
    const { id, parent, launcher, rank, extent, runDir } = options;
    const { platform } = local;
    this.#runDir = runDir;
    this.#services = local;
    this.#parent = parent;
    this.#launcher = launcher;
    this.#endProc = options.endProc;
    this.proc = new Proc({
      id,
      universe: local.universe,
      clock: platform.clock,
      random: platform.random,
      drops: platform.drops,
      records: local.records,
      hooks: this,
      location: local.locationOf(runDir, id),
      ...(parent === undefined ? {} : { parent, parentConnects: launcher !== undefined }),
      keepAlive: parent === undefined ? platform.keepAlive : noKeepAlive,
      connect: (location, peer) => this.#dial(location, peer),
      accept: (pipe, from) => this.accept(pipe, from),
    });
    this.proc.context = { ...this.proc.context, rank };
    this.#creating.set(AGENT_MESH, () => {});
    const own = { descriptor: procAgentDescriptor, actorClass: ProcAgent as unknown as ActorClass, args: [this] };
    const agent = { mesh: AGENT_MESH, incarnation: 0, name: "agent", owner: id, rank, extent };
    this.proc.createActor({ ...agent, ...(options.agent ?? own) });
  }

  /** Who orders actors here, but for those that actors here make in this very proc. */
  get parentOrSelf(): ProcId {
    return this.#parent ?? this.proc.id;
  }

  /** The machine that it runs on. */
  get platform(): Platform {
    return this.#services.platform;
  }

  /** Who answers for memory of this process. */
  get memory(): MemoryService {
    return this.#services.memoryService;
  }

  /** Runs the user's code that belongs to no actor. */
  runOutsideActors<T>(body: () => T): T {
    return runInTurn(this.proc.root.turn, body) as T;
  }

  /** Loads modules of actors. */
  runWhileLoading<T>(load: () => T): T {
    return whileLoading(this.proc.root, load);
  }

  /** A program's own event loop is its own affair, and that of whatever runs it. */
  watchEventLoop(limits: WatchLimits): void {
    if (!this.#services.isProgram) this.platform.watchEventLoop?.(limits);
  }

  /** Others of the tree can reach this proc directly from now on. */
  listen(): void {
    if (this.#runDir !== "") this.platform.clock.after(listenDelay, () => this.#listen());
  }

  /** A peer has connected from afar, and has said who it is. */
  accept(pipe: Pipe, from: ProcId): void {
    const awaited = this.#awaitedParentPipe;
    if (from !== this.#parent) this.proc.attach(pipe);
    else if (awaited === undefined) this.proc.attach(pipe, from);
    else {
      this.#awaitedParentPipe = undefined;
      awaited.resolve(pipe);
    }
  }

  /** A peer has connected from afar for bulk bytes alone. */
  acceptMemory(pipe: Pipe): void {
    this.#services.memoryService.accept(pipe);
  }

  /** Procs of other hosts can reach this one directly from now on. @returns its port; rejects when it cannot listen */
  openLinkPort(at: NetworkAddress): Promise<number> {
    return openLinkPort(this.platform, this, this.#services.hostProof, at);
  }

  #listen(): void {
    this.platform
      .listen(this.platform.locationOf(this.#runDir, this.proc.id), (pipe) => this.proc.attach(pipe))
      .catch(() => {
        // Those who cannot reach it directly go through its maker.
      });
  }

  /** Rejects where others lead to the peer. */
  async #dial(location: Location, peer: ProcId): Promise<Pipe> {
    const { hostLocation: host, attachedHosts: hosts, hostProof: proof } = this.#services;
    const place = parseHostedLocation(location);
    if (place?.agent === (host && parseHostedLocation(host)?.agent)) {
      return this.platform.dial(this.#services.socketLocationOf(peer, location));
    }
    if (place === undefined) {
      // Others may be sooner to connect than the maker, and what they send may be news for it.
      if (peer === this.#parent) return this.#parentPipe();
      throw new Error(`process ${hex64(peer)} is on the machine of the driver`);
    }
    if (peer !== place.agent) {
      const direct = await this.dialDirectly(place, peer, "link");
      return direct ?? this.proc.relayTo(peer, place.ancestors.at(-1) ?? place.agent, parentLocation(place));
    }
    const attached = hosts.get(peer);
    if (attached !== undefined) return attached.connect(this.proc);
    if (place.address.kind === "unix") throw new Error(`the socket of ${location} is on another machine`);
    return connectToHost(this.platform, this.proc, { ...place, proof }, hostDialLimitMs);
  }

  /** The maker, on the driver's machine, connects to those that it has had started; nobody can connect to it. */
  #parentPipe(): Promise<Pipe> {
    this.#awaitedParentPipe ??= new Deferred<Pipe>();
    return this.#awaitedParentPipe.promise;
  }

  /** Undefined: it is reached through another one, which knows it. */
  async dialDirectly(
    { agent, address, ancestors: makers }: HostedLocation,
    peer: ProcId,
    use: LinkUse,
  ): Promise<Pipe | undefined> {
    if (makers.length > 0) return undefined;
    const { directLinks: direct, attachedHosts: hosts, hostProof: proof } = this.#services;
    return direct.connect(peer, this.proc, { agent, address, proof: hosts.get(agent)?.proof ?? proof, use });
  }

  /** The hosts that are watched for the maker of this proc. */
  get hostWatch(): HostWatch {
    const report = (host: ProcId, reason: string) =>
      runAsRoot(this.proc, () => agentOf(this.parentOrSelf).hostLeft.broadcast(host, reason));
    this.#hostWatch ??= new HostWatch(this.proc, this.platform, report);
    return this.#hostWatch;
  }

  /** A process that a host has started for this one. */
  hostedBackendOf(proc: ProcId): HostedBackend | undefined {
    return this.#services.hostedBackends.get(proc);
  }

  /** A host goes, that was attached from here, or by the driver, and with it procs there. */
  handleHostLeft(host: ProcId, reason: string, procs: readonly ProcId[]): void {
    const attached = this.#services.attachedHosts.get(host);
    if (attached === undefined) this.#services.handleHostGone(host, reason, procs);
    else attached.markLost(reason);
  }

  /** What hosts ask of this process. */
  setHostProof(proof: HostProof): void {
    this.#services.hostProof = proof;
  }

  /** Makes an actor, and waits for its constructor and `init`. Throws if there is one of the mesh already. */
  createActor(request: ActorRequest): Promise<ActorFailure | undefined> {
    return new Promise((resolve) => this.createActorNow(request, resolve));
  }

  /** @param created called once, maybe at once */
  createActorNow(request: ActorRequest, created: OnCreated): void {
    this.#creating.set(request.mesh, created);
    this.platform.interceptUncaughtErrors?.((error) => blameActor(this.platform, error));
    this.proc.createActor(request);
  }

  /** There will be no such actor. */
  refuseActor(shape: ActorSpec, failure: ActorFailure): void {
    const before = this.proc.cell(shape.mesh);
    if (before === undefined || before.ended !== undefined) this.proc.refuseActor(shape, failure);
  }

  async stopActor(mesh: MeshId, options: StopOptions): Promise<void> {
    const cell = this.proc.cell(mesh);
    if (cell !== undefined && mesh !== AGENT_MESH) await this.proc.stopActor(cell, options);
  }

  /** Stops all actors here, and what they and the root own. */
  async stopActors(options: StopOptions): Promise<void> {
    const actors = [...this.proc.cells()].filter(({ mesh }) => mesh !== AGENT_MESH);
    await Promise.all(actors.map((cell) => this.proc.stopActor(cell, options)));
    await this.#services.ownership.stopOwned(this.proc.root, options);
    await this.#hostWatch?.driverEnded("the driver has ended");
  }

  /** When what has been answered is on its way. */
  endSoon(reason: string): void {
    this.proc.clock.soon(() => this.#endProc(reason));
  }

  /** An actor has moved, as all processes of the tree are to know. Never rejects. */
  announceMove(move: ActorMove, from: ProcId): Promise<void> {
    return this.#services.announceMove(move, from);
  }

  targetDown(target: ActorTarget): void {
    this.#services.recoveryWatch.watch(target, this.proc);
  }

  /** Returns the status of an actor of a mesh that was spawned here. */
  rankStatus(mesh: MeshId, rank: number): RankStatus {
    return this.#services.spawnedActors.get(mesh)?.statusOf(rank) ?? { state: "lost" };
  }

  handleNotice(notice: ActorNotice): void {
    this.#services.spawnedActors.get(notice.mesh)?.recordFailure(notice);
  }

  actorStarted(cell: ActorCell): void {
    this.#settleCreation(cell, undefined);
  }

  actorFailed(cell: ActorCell, failure: ActorFailure): void {
    if (this.#settleCreation(cell, failure)) return;
    const notice = actorNoticeOf(cell.id, failure);
    const { owner } = cell.spec;
    if (this.#services.spawnedActors.has(cell.mesh)) this.handleNotice(notice);
    else if (cell.mesh === AGENT_MESH) this.#agentFailed(failure);
    else runAsRoot(this.proc, () => agentOf(owner).failed.broadcast(notice));
  }

  stopOwned(cell: ActorCell, options: StopOptions): Promise<void> {
    this.#services.ownership.close(cell);
    return this.#services.ownership.stopOwned(cell, options);
  }

  handlerSlow(_cell: ActorCell, message: string): void {
    this.platform.warn(message, "ViceroySlow");
  }

  cleanupFailed(cell: ActorCell, error: unknown): void {
    this.platform.print(`cleanup of ${cell.name} threw: ${thrownStack(error)}\n`);
  }

  meshOrdered(mesh: MeshId): Promise<boolean> {
    return this.#services.spawnedActors.get(mesh)?.isOrdered() ?? Promise.resolve(false);
  }

  peerLost(peer: ProcId, error: Error | undefined, fault?: Error): string | Promise<string> {
    if (peer === this.#parent || peer === this.#launcher) this.#linkFault = fault;
    return this.#services.children.get(peer)?.exitText() ?? `process ${hex64(peer)} has ended: ${error?.message ?? ""}`;
  }

  peerDown(peer: ProcId, reason: string): void {
    if (peer === this.#parent) this.#endAsOrphan("its maker");
    else if (peer === this.#launcher) this.#endAsOrphan("the agent of its host");
    else {
      this.#services.children.get(peer)?.awaitExit(reason);
      this.#services.attachedHosts.get(peer)?.markLost(reason);
      this.#services.memoryService.peerGone(peer, reason);
    }
  }

  undeliverable(cell: ActorCell, { to, reason, message }: Undeliverable): void {
    // Ends of actors and processes are told to their owners; what is left is a mistake of the program.
    if (reason !== "unknown" && reason !== "refused") return;
    this.platform.warn(`${cell.name} cannot deliver ${to}: ${message}`, "ViceroyUndeliverable");
  }

  /** Without its agent a proc obeys nobody. */
  #agentFailed({ error }: ActorFailure): void {
    this.platform.print(`the agent has failed: ${thrownStack(error)}\n`);
    this.#endProc("its agent has failed", 1);
  }

  /** Without `whom` it is of no use. That is no end in order where it was this process that gave up the link. */
  #endAsOrphan(whom: string): void {
    if (this.#linkFault === undefined) {
      this.#endProc(`${whom} has ended`);
      return;
    }
    const why = formatFatalLine(`cannot go on: the link to ${whom} was given up here`);
    this.platform.print(`${why}${thrownStack(this.#linkFault)}\n`);
    this.#endProc(`the link to ${whom} was given up`, 1);
  }

  #settleCreation(cell: ActorCell, failure: ActorFailure | undefined): boolean {
    const created = this.#creating.get(cell.mesh);
    if (created === undefined) return false;
    this.#creating.delete(cell.mesh);
    created(failure);
    return true;
  }
}

/**
 * An error that no handler has thrown and nobody has caught: of a timer, a listener or a promise that an actor has left
 * running. It is a failure of that actor, as far as the asynchronous context tells whose it is.
 * @returns whether it was somebody's
 */
function blameActor(platform: Platform, error: unknown): boolean {
  const turn = currentTurn();
  const cell = turn?.cell;
  if (turn === undefined || cell === undefined || cell.isRoot || cell.mesh === AGENT_MESH) return false;
  // One that has ended has nobody to tell.
  if (cell.ended === undefined) cell.failUncaught(turn, error);
  else platform.print(`${cell.name} has ended, and code that it had left running threw: ${thrownStack(error)}\n`);
  return true;
}
