/**
 * The agent of a proc: the actor with mesh id 0 that executes the orders of the proc's parent. It translates each
 * request; `proc-runtime.ts` contains the proc, its actors and its end.
 */

import type { CarriedCheckpoint, StateOffer } from "../../../generated/checkpoint.js";
import {
  type ActorMove,
  type ActorPlace,
  type HostKey,
  type HostProof,
  type HostWatchOrder,
  ProcAgentActor,
  type ProcConfig,
  type ProcessEnding,
  type ProcessOutput,
  type ProcInfo,
  procAgentDescriptor,
  type RankStatus,
  type SpawnOrder,
  type SpawnOutcome,
  type StopOrder,
} from "../../../generated/proc-agent.js";
import type {
  MovedSender,
  PublishedRankState,
  RelayedAnswer,
  RelayedCall,
  SenderMove,
} from "../../../generated/published.js";
import type { GrantClaim, MemoryAnswer } from "../../../generated/rdma.js";
import type { ActorNotice } from "../../../generated/supervision.js";
import { context } from "../../actor/context.js";
import type { ActorFailure } from "../../actor/reference/actor-failure.js";
import type { ActorClass, ActorSpec } from "../../actor/reference/actor-request.js";
import { schemaForPeer } from "../../actor/schema/compare-schemas.js";
import type { MeshId, ProcId } from "../../link/address.js";
import { Deferred } from "../../link/deferred.js";
import { parseNetworkAddress } from "../../link/transport/network-address.js";
import { errorFromCause } from "../../supervise/failure-cause.js";
import { version } from "../../version.js";
import { receiveCheckpoint, stateOffersOf } from "../checkpoint/state-offers.js";
import { decodeArguments } from "../mesh/constructor-arguments.js";
import type { Platform } from "../platform/platform.js";
import { countdown, settlesWithin } from "../time-limit.js";
import { actorNoticeOf } from "./actor-notice.js";
import type { ProcRuntime } from "./proc-runtime.js";
import type { AgentRole } from "./proc-services.js";
import { waitForPredecessor } from "./wait-for-predecessor.js";

/** Returns the role of the agent of a process that holds actors. */
export function procAgentRole(runtime: ProcRuntime): AgentRole {
  return { descriptor: procAgentDescriptor, actorClass: ProcAgent as unknown as ActorClass, args: [runtime] };
}

export class ProcAgent extends ProcAgentActor {
  readonly #proc: ProcRuntime;
  #configured: Promise<unknown> = Promise.resolve();
  /**
   * Actors that have been ordered and not created yet, by mesh. A promise resolves when the actor has been created, or
   * never will be.
   */
  readonly #creating = new Map<MeshId, Promise<void>>();

  constructor(proc: ProcRuntime) {
    super();
    this.#proc = proc;
  }

  prove(proof: HostProof): void {
    this.#proc.hostKeyring.own = proof;
  }

  addHostKey(key: HostKey): void {
    this.#proc.addHostKey(key);
  }

  openPort(address: string): Promise<number> {
    return this.#proc.openLinkPort(parseNetworkAddress(address));
  }

  async configure(config: ProcConfig): Promise<ProcInfo> {
    if (config.proof !== undefined) this.#proc.hostKeyring.own = config.proof;
    for (const key of config.keys ?? []) this.#proc.hostKeyring.add(key);
    const { rank: point } = context().actor;
    const loading = this.#proc.runOutsideActors(() => loadConfiguredModules(this.#proc.platform, config, point));
    this.#configured = loading;
    await loading;
    this.#proc.listen();
    const { pid, node } = this.#proc.platform;
    return { pid, node, viceroy: version };
  }

  async createActor(order: SpawnOrder): Promise<SpawnOutcome> {
    const { mesh, name, incarnation, watch } = order;
    const { checkpoint, carried, savesAtStop, maxCalls } = order;
    const owner = this.#proc.parentOrSelf;
    const shape = { mesh, name, incarnation, ...placementOf(order.place), owner, savesAtStop, maxCalls };
    const placed = new Deferred<void>();
    this.#creating.set(mesh, placed.promise);
    try {
      await this.#configured;
      const actorClass = await this.#proc.runWhileLoading(() => this.#proc.platform.classes.find(order.actor));
      const { descriptor } = actorClass;
      await waitForPredecessor(this.#proc.proc, mesh);
      const protobuf = order.protobuf === true;
      const compared = protobuf && order.uncompared !== true;
      if (!compared && descriptor.fingerprint !== order.fingerprint) return { other: schemaForPeer(descriptor) };
      const args = decodeArguments(descriptor.args, { args: order.args, protobuf });
      if (watch !== undefined) this.#proc.watchEventLoop(watch);
      const saved = carried === undefined ? checkpoint : await receiveCheckpoint(this.#proc.proc, carried);
      const created = this.#proc.createActor({ ...shape, descriptor, actorClass, args, watch, saved });
      placed.resolve();
      const failure = await created;
      if (failure !== undefined) return { failure: actorNoticeOf(shape, failure) };
      return saved === undefined ? {} : { restored: true };
    } catch (error) {
      const failure: ActorFailure = { kind: "constructor", error, at: this.#proc.proc.clock.epochMs() };
      this.#proc.refuseActor(shape, failure);
      return { failure: { ...actorNoticeOf(shape, failure), kind: "spawn" } };
    } finally {
      placed.resolve();
      if (this.#creating.get(mesh) === placed.promise) this.#creating.delete(mesh);
    }
  }

  async takeCheckpoint(mesh: MeshId): Promise<CarriedCheckpoint> {
    await this.#creating.get(mesh);
    let offer: StateOffer | undefined;
    const checkpoint = await this.#proc.saveActor(mesh, (parts) => {
      const carried = stateOffersOf(this.#proc.proc).carry(parts, mesh);
      offer = carried.offer;
      return carried.state;
    });
    return offer === undefined ? { checkpoint } : { checkpoint, offer };
  }

  async storeLastCheckpoint(mesh: MeshId, rank: number, incarnation: number, saved: CarriedCheckpoint): Promise<void> {
    const checkpoint = await receiveCheckpoint(this.#proc.proc, saved);
    await this.#proc.storeCheckpoint({ mesh, rank, incarnation }, checkpoint);
  }

  readState(offer: number, offset: number, length: number): Uint8Array {
    return stateOffersOf(this.#proc.proc).read(offer, offset, length);
  }

  dropState(offer: number): void {
    stateOffersOf(this.#proc.proc).drop(offer);
  }

  refuse(mesh: MeshId, name: string, reason: string, place?: ActorPlace): void {
    const error = errorFromCause({ name: "SpawnError", message: reason });
    const shape = { mesh, name, incarnation: 0, ...placementOf(place), owner: this.#proc.parentOrSelf };
    this.#proc.refuseActor(shape, { kind: "constructor", error, at: this.#proc.proc.clock.epochMs() });
  }

  async stopActor(mesh: MeshId, order: StopOrder): Promise<void> {
    await this.#creating.get(mesh);
    await this.#proc.stopActor(mesh, order);
  }

  async shutdown(order: StopOrder): Promise<void> {
    const { reason, drain, deliver = false } = order;
    const { clock } = this.#proc.platform;
    const rest = countdown(clock, drain);
    // Messages to actors that are still being created are handled, too.
    if (drain > 0) await settlesWithin(clock, drain, Promise.all(this.#creating.values()));
    await this.#proc.stopActors({ reason, drain: rest() });
    if (deliver) await settlesWithin(clock, rest(), this.#proc.proc.whenDelivered());
    this.#proc.endSoon(reason);
  }

  alive(): void {}

  async moved(move: ActorMove, from: ProcId): Promise<void> {
    await this.#proc.announceMove(move, from);
  }

  rankStatus(mesh: MeshId, rank: number): RankStatus {
    return this.#proc.rankStatus(mesh, rank);
  }

  readMemory(claim: GrantClaim, offset: number, length: number): MemoryAnswer {
    return this.#proc.memory.read(claim, offset, length);
  }

  writeMemory(claim: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer {
    return this.#proc.memory.write(claim, offset, bytes);
  }

  askMemory(transport: string, request: Uint8Array): Promise<Uint8Array> {
    return this.#proc.memory.ask(transport, request);
  }

  failed(notice: ActorNotice): void {
    this.#proc.handleNotice(notice);
  }

  watchHost(order: HostWatchOrder): void {
    this.#proc.hostWatch.watch(order);
  }

  unwatchHost(host: ProcId): void {
    this.#proc.hostWatch.unwatch(host);
  }

  driverEnded(reason: string): void {
    this.#proc.driverEnded(reason);
  }

  callsSpent(mesh: MeshId, rank: number, incarnation: number): void {
    this.#proc.handleCallsSpent({ mesh, rank, incarnation });
  }

  passOn(mesh: MeshId): void {
    this.#proc.passOn(mesh);
  }

  processPrinted(output: ProcessOutput): void {
    this.#proc.hostedBackendOf(output.proc)?.printOutput(output);
  }

  processEnded(ending: ProcessEnding): void {
    this.#proc.hostedBackendOf(ending.proc)?.reportExit(ending);
  }

  processFinished(proc: ProcId): void {
    this.#proc.hostedBackendOf(proc)?.endOutput();
  }

  hostLeft(host: ProcId, reason: string, procs: readonly ProcId[] = []): void {
    this.#proc.handleHostLeft(host, reason, procs, context().caller.id.proc);
  }

  callPublished(call: RelayedCall): Promise<RelayedAnswer> {
    return this.#proc.publishedMeshes.call(call, context().signal);
  }

  streamPublished(call: RelayedCall): AsyncIterable<RelayedAnswer> {
    return this.#proc.publishedMeshes.stream(call, context().signal);
  }

  publishedRankState(publication: bigint, rank: number): PublishedRankState {
    return this.#proc.publishedMeshes.rankState(publication, rank);
  }

  publicationEnded(publication: bigint, reason: string, left?: ProcId): void {
    this.#proc.publishedMeshes.publicationEnded(publication, reason, left);
  }

  movePublishedSender(move: SenderMove): MovedSender {
    return this.#proc.publishedMeshes.moveSender(move);
  }

  failures(): ActorNotice[] {
    return this.#proc.failures;
  }
}

/** Returns the rank and extent of an actor: those of the order, or else those of this proc among the addressed ones. */
function placementOf(place: ActorPlace | undefined): Pick<ActorSpec, "rank" | "position" | "extent"> {
  if (place !== undefined) {
    const { rank, number = rank, dimensions, sizes } = place;
    return {
      rank: number,
      position: rank,
      extent: Object.fromEntries(dimensions.map((name, i) => [name, sizes[i] ?? 0])),
    };
  }
  const { rank, extent } = context();
  return { rank: rank.rank, extent };
}

/**
 * Loads everything that comes before the actors: the TypeScript loader, the registry, and the bootstrap module, whose
 * default function it calls.
 */
async function loadConfiguredModules(
  platform: Platform,
  { loader, registry: place, bootstrap }: ProcConfig,
  point: unknown,
): Promise<void> {
  const { classes } = platform;
  const before = new Set(classes.registryUrls);
  if (loader !== undefined) await platform.useLoader(loader);
  if (place !== undefined) await platform.importModule(place);
  if (bootstrap !== undefined) {
    const { default: run } = (await platform.importModule(bootstrap)) as { default?: unknown };
    if (typeof run === "function") await run(point);
  }
  // The configured registries are the build of this process. The registry that the first order names is not.
  classes.restrictTo(classes.registryUrls.filter((url) => url === place || !before.has(url)));
}
