/**
 * One proc of this operating-system process with what it tells upwards: actors that have come to be or failed, peers that
 * are gone. Several may live here: the one that code outside actors belongs to, and those with inline isolation.
 */

import { type ActorMove, type HostProof, procAgentDescriptor, type RankStatus } from "../../generated/proc-agent.js";
import type { ActorNotice } from "../../generated/supervision.js";
import type { ActorTarget } from "../actor/address.js";
import type { ActorShape, Cell } from "../actor/cell.js";
import { currentTurn, runTurn } from "../actor/context.js";
import type { ActorClass, ActorFailure, ActorRequest, ProcHooks, StopOptions, Undeliverable } from "../actor/hooks.js";
import { Proc } from "../actor/proc.js";
import type { WatchLimits } from "../actor/watchdog.js";
import { AGENT_MESH, hex64, type Location, type MeshId, type ProcId } from "../link/address.js";
import type { LinkUse } from "../link/handshake/message.js";
import { noKeepAlive } from "../link/keep-alive.js";
import type { NetworkAddress } from "../link/network-address.js";
import type { Pipe } from "../link/pipe.js";
import type { Extent } from "../shape/index.js";
import { stackOf } from "../thrown.js";
import { Agent } from "./agent.js";
import { agentOf, asRoot } from "./agents.js";
import { Deferred } from "./deferred.js";
import { fatal } from "./fatal.js";
import { connectToHost } from "./host-connection.js";
import { HostWatch } from "./host-watch.js";
import type { HostedBody } from "./hosted-body.js";
import { type HostPlace, hostOf, placeOfMaker } from "./hosted-location.js";
import { whileLoading } from "./loading.js";
import type { Local } from "./local.js";
import type { MemoryService } from "./memory-service.js";
import { noticeOf } from "./notice.js";
import { openPort } from "./own-port.js";
import type { Platform } from "./platform.js";

/** How long a host may take to let this process in before it is reached through the driver, in ms. */
const hostDialLimit = 3000;

/** In ms: what a process was started for comes first, and listening loads modules that nothing else needs. */
const listenDelay = 100;

/** @param code the exit code; undefined: it ends in order */
export type Leave = (reason: string, code?: number) => void;

type Created = (failure: ActorFailure | undefined) => void;

/** The actor with mesh id 0: what a proc is asked for by those who made it. */
export type AgentRole = Pick<ActorRequest, "descriptor" | "actorClass" | "args">;

export interface LocalProcOptions {
  readonly id: ProcId;
  readonly parent?: ProcId;
  /** Without it, too, this proc is of no use. */
  readonly launcher?: ProcId;
  readonly rank: number;
  readonly extent: Extent;
  readonly runDir: string;
  /** How the proc leaves: when it was told to, when its maker is gone, or with an exit code when it cannot go on. */
  readonly leave: Leave;
  /** Undefined: that of a process which holds actors. */
  readonly agent?: AgentRole | undefined;
}

export class LocalProc implements ProcHooks {
  readonly proc: Proc;
  readonly #local: Local;
  readonly #parent: ProcId | undefined;
  readonly #launcher: ProcId | undefined;
  readonly #runDir: string;
  readonly #leave: Leave;
  /** Why it has given up the link to whoever it depends on. */
  #fault: Error | undefined;
  #hostWatch: HostWatch | undefined;
  /** There is something to be sent to the maker, which has not connected yet. */
  #makerAwaited: Deferred<Pipe> | undefined;
  readonly #creating = new Map<MeshId, Created>();

  constructor(local: Local, options: LocalProcOptions) {
    const { id, parent, launcher, rank, extent, runDir } = options;
    const { platform } = local;
    this.#runDir = runDir;
    this.#local = local;
    this.#parent = parent;
    this.#launcher = launcher;
    this.#leave = options.leave;
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
    const own = { descriptor: procAgentDescriptor, actorClass: Agent as unknown as ActorClass, args: [this] };
    const agent = { mesh: AGENT_MESH, incarnation: 0, name: "agent", owner: id, rank, extent };
    this.proc.createActor({ ...agent, ...(options.agent ?? own) });
  }

  /** Who orders actors here, but for those that actors here make in this very proc. */
  get maker(): ProcId {
    return this.#parent ?? this.proc.id;
  }

  /** The machine that it runs on. */
  get platform(): Platform {
    return this.#local.platform;
  }

  /** Who answers for memory of this process. */
  get memory(): MemoryService {
    return this.#local.memory;
  }

  /** Runs the user's code that belongs to no actor. */
  outside<T>(body: () => T): T {
    return runTurn(this.proc.root.turn, body) as T;
  }

  /** Loads modules of actors. */
  loading<T>(load: () => T): T {
    return whileLoading(this.proc.root, load);
  }

  /** A program's own event loop is its own affair, and that of whatever runs it. */
  watchLoop(limits: WatchLimits): void {
    if (!this.#local.isProgram) this.platform.watchLoop?.(limits);
  }

  /** Others of the tree can reach this proc directly from now on. */
  listen(): void {
    if (this.#runDir !== "") this.platform.clock.after(listenDelay, () => this.#listen());
  }

  /** A peer has connected from afar, and has said who it is. */
  accept(pipe: Pipe, from: ProcId): void {
    const awaited = this.#makerAwaited;
    if (from !== this.#parent) this.proc.attach(pipe);
    else if (awaited === undefined) this.proc.attach(pipe, from);
    else {
      this.#makerAwaited = undefined;
      awaited.resolve(pipe);
    }
  }

  /** A peer has connected from afar for bulk bytes alone. */
  acceptMemory(pipe: Pipe): void {
    this.#local.memory.accept(pipe);
  }

  /** Procs of other hosts can reach this one directly from now on. @returns its port; rejects when it cannot listen */
  openPort(at: NetworkAddress): Promise<number> {
    return openPort(this.platform, this, this.#local.proof, at);
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
    const { host, hosts, proof } = this.#local;
    const place = hostOf(location);
    if (place?.agent === (host && hostOf(host)?.agent)) {
      return this.platform.dial(this.#local.socketOf(peer, location));
    }
    if (place === undefined) {
      // Others may be sooner to connect than the maker, and what they send may be news for it.
      if (peer === this.#parent) return this.#makersPipe();
      throw new Error(`process ${hex64(peer)} is on the machine of the driver`);
    }
    if (peer !== place.agent) {
      const direct = await this.dialDirectly(place, peer, "link");
      return direct ?? this.proc.relayTo(peer, place.makers.at(-1) ?? place.agent, placeOfMaker(place));
    }
    const attached = hosts.get(peer);
    if (attached !== undefined) return attached.connect(this.proc);
    if (place.address.kind === "unix") throw new Error(`the socket of ${location} is on another machine`);
    return connectToHost(this.platform, this.proc, { ...place, proof }, hostDialLimit);
  }

  /** The maker, on the driver's machine, connects to those that it has had started; nobody can connect to it. */
  #makersPipe(): Promise<Pipe> {
    this.#makerAwaited ??= new Deferred<Pipe>();
    return this.#makerAwaited.promise;
  }

  /** Undefined: it is reached through another one, which knows it. */
  async dialDirectly({ agent, address, makers }: HostPlace, peer: ProcId, use: LinkUse): Promise<Pipe | undefined> {
    if (makers.length > 0) return undefined;
    const { direct, hosts, proof } = this.#local;
    return direct.to(peer, this.proc, { agent, address, proof: hosts.get(agent)?.proof ?? proof, use });
  }

  /** The hosts that are watched for the maker of this proc. */
  get hostWatch(): HostWatch {
    const report = (host: ProcId, reason: string) =>
      asRoot(this.proc, () => agentOf(this.maker).hostLeft.broadcast(host, reason));
    this.#hostWatch ??= new HostWatch(this.proc, this.platform, report);
    return this.#hostWatch;
  }

  /** A process that a host has started for this one. */
  hosted(proc: ProcId): HostedBody | undefined {
    return this.#local.hosted.get(proc);
  }

  /** A host goes, that was attached from here, or by the driver, and with it procs there. */
  hostLeft(host: ProcId, reason: string, procs: readonly ProcId[]): void {
    const attached = this.#local.hosts.get(host);
    if (attached === undefined) this.#local.hostGone(host, reason, procs);
    else attached.lost(reason);
  }

  /** What hosts ask of this process. */
  prove(proof: HostProof): void {
    this.#local.proof = proof;
  }

  /** Makes an actor, and waits for its constructor and `init`. Throws if there is one of the mesh already. */
  create(request: ActorRequest): Promise<ActorFailure | undefined> {
    return new Promise((resolve) => this.createNow(request, resolve));
  }

  /** @param created called once, maybe at once */
  createNow(request: ActorRequest, created: Created): void {
    this.#creating.set(request.mesh, created);
    this.platform.takeUncaught?.((error) => takeUncaught(this.platform, error));
    this.proc.createActor(request);
  }

  /** There will be no such actor. */
  refuse(shape: ActorShape, failure: ActorFailure): void {
    const before = this.proc.cell(shape.mesh);
    if (before === undefined || before.ended !== undefined) this.proc.refuseActor(shape, failure);
  }

  async stop(mesh: MeshId, options: StopOptions): Promise<void> {
    const cell = this.proc.cell(mesh);
    if (cell !== undefined && mesh !== AGENT_MESH) await this.proc.stopActor(cell, options);
  }

  /** Stops all actors here, and what they and the root own. */
  async stopAll(options: StopOptions): Promise<void> {
    const actors = [...this.proc.cells()].filter(({ mesh }) => mesh !== AGENT_MESH);
    await Promise.all(actors.map((cell) => this.proc.stopActor(cell, options)));
    await this.#local.ownership.stopOwned(this.proc.root, options);
    await this.#hostWatch?.driverEnded("the driver has ended");
  }

  /** When what has been answered is on its way. */
  leaveSoon(reason: string): void {
    this.proc.clock.soon(() => this.#leave(reason));
  }

  /** An actor has moved, as all processes of the tree are to know. Never rejects. */
  moved(move: ActorMove, from: ProcId): Promise<void> {
    return this.#local.moved(move, from);
  }

  targetDown(target: ActorTarget): void {
    this.#local.returns.watch(target, this.proc);
  }

  /** Returns the status of an actor of a mesh that was spawned here. */
  rankStatus(mesh: MeshId, rank: number): RankStatus {
    return this.#local.meshes.get(mesh)?.status(rank) ?? { state: "lost" };
  }

  notice(notice: ActorNotice): void {
    this.#local.meshes.get(notice.mesh)?.failed(notice);
  }

  actorStarted(cell: Cell): void {
    this.#created(cell, undefined);
  }

  actorFailed(cell: Cell, failure: ActorFailure): void {
    if (this.#created(cell, failure)) return;
    const notice = noticeOf(cell.id, failure);
    const { owner } = cell.shape;
    if (this.#local.meshes.has(cell.mesh)) this.notice(notice);
    else if (cell.mesh === AGENT_MESH) this.#agentFailed(failure);
    else asRoot(this.proc, () => agentOf(owner).failed.broadcast(notice));
  }

  stopOwned(cell: Cell, options: StopOptions): Promise<void> {
    this.#local.ownership.close(cell);
    return this.#local.ownership.stopOwned(cell, options);
  }

  handlerSlow(_cell: Cell, message: string): void {
    this.platform.warn(message, "ViceroySlow");
  }

  cleanupFailed(cell: Cell, error: unknown): void {
    this.platform.print(`cleanup of ${cell.name} threw: ${stackOf(error)}\n`);
  }

  meshOrdered(mesh: MeshId): Promise<boolean> {
    return this.#local.meshes.get(mesh)?.isOrdered() ?? Promise.resolve(false);
  }

  peerLost(peer: ProcId, error: Error | undefined, fault?: Error): string | Promise<string> {
    if (peer === this.#parent || peer === this.#launcher) this.#fault = fault;
    return this.#local.members.get(peer)?.lastWords() ?? `process ${hex64(peer)} has ended: ${error?.message ?? ""}`;
  }

  peerDown(peer: ProcId, reason: string): void {
    if (peer === this.#parent) this.#orphaned("its maker");
    else if (peer === this.#launcher) this.#orphaned("the agent of its host");
    else {
      this.#local.members.get(peer)?.linkLost(reason);
      this.#local.hosts.get(peer)?.lost(reason);
      this.#local.memory.gone(peer, reason);
    }
  }

  undeliverable(cell: Cell, { to, reason, message }: Undeliverable): void {
    // Ends of actors and processes are told to their owners; what is left is a mistake of the program.
    if (reason !== "unknown" && reason !== "refused") return;
    this.platform.warn(`${cell.name} cannot deliver ${to}: ${message}`, "ViceroyUndeliverable");
  }

  /** Without its agent a proc obeys nobody. */
  #agentFailed({ error }: ActorFailure): void {
    this.platform.print(`the agent has failed: ${stackOf(error)}\n`);
    this.#leave("its agent has failed", 1);
  }

  /** Without `whom` it is of no use. That is no end in order where it was this process that gave up the link. */
  #orphaned(whom: string): void {
    if (this.#fault === undefined) {
      this.#leave(`${whom} has ended`);
      return;
    }
    const why = fatal(`cannot go on: the link to ${whom} was given up here`);
    this.platform.print(`${why}${stackOf(this.#fault)}\n`);
    this.#leave(`the link to ${whom} was given up`, 1);
  }

  #created(cell: Cell, failure: ActorFailure | undefined): boolean {
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
function takeUncaught(platform: Platform, error: unknown): boolean {
  const turn = currentTurn();
  const cell = turn?.cell;
  if (turn === undefined || cell === undefined || cell.isRoot || cell.mesh === AGENT_MESH) return false;
  // One that has ended has nobody to tell.
  if (cell.ended === undefined) cell.uncaught(turn, error);
  else platform.print(`${cell.name} has ended, and code that it had left running threw: ${stackOf(error)}\n`);
  return true;
}
