/**
 * The agent of a proc: the actor with mesh id 0 that does what the proc's maker asks for. It says how each request is
 * met; the proc, its actors and its end are those of local-proc.ts.
 */

import type { ProcessEnding, ProcessOutput } from "../../generated/host-agent.js";
import {
  type ActorMove,
  type ActorPlace,
  type HostProof,
  type HostWatchOrder,
  ProcAgentActor,
  type ProcConfig,
  type ProcInfo,
  type SpawnOrder,
  type SpawnOutcome,
  type StopOrder,
} from "../../generated/proc-agent.js";
import type { ActorNotice } from "../../generated/supervision.js";
import { context } from "../actor/context.js";
import type { ActorFailure } from "../actor/hooks.js";
import { schemaOf } from "../actor/schemas.js";
import type { MeshId, ProcId } from "../link/address.js";
import type { Extent } from "../shape/index.js";
import { errorOf } from "../supervise/cause.js";
import { version } from "../version.js";
import { endBefore } from "./end-before.js";
import type { LocalProc } from "./local-proc.js";
import { noticeOf } from "./notice.js";
import type { Platform } from "./platform.js";

export class Agent extends ProcAgentActor {
  readonly #proc: LocalProc;
  #configured: Promise<unknown> = Promise.resolve();
  /** How many orders to create an actor of a mesh are being carried out. */
  readonly #ordered = new Map<MeshId, number>();
  /** Meshes of which an actor was stopped while it was not there yet. */
  readonly #unwanted = new Set<MeshId>();

  constructor(proc: LocalProc) {
    super();
    this.#proc = proc;
  }

  prove(proof: HostProof): void {
    this.#proc.prove(proof);
  }

  async configure(config: ProcConfig): Promise<ProcInfo> {
    if (config.proof !== undefined) this.#proc.prove(config.proof);
    const { rank: point } = context().actor;
    const loading = this.#proc.outside(() => prepare(this.#proc.platform, config, point));
    this.#configured = loading;
    await loading;
    this.#proc.listen();
    const { pid, node } = this.#proc.platform;
    return { pid, node, viceroy: version };
  }

  async createActor(order: SpawnOrder): Promise<SpawnOutcome> {
    const { mesh, name, incarnation, watch } = order;
    const shape = { mesh, name, incarnation, ...placeOf(order.place), owner: this.#proc.maker };
    this.#ordered.set(mesh, (this.#ordered.get(mesh) ?? 0) + 1);
    try {
      await this.#configured;
      const actorClass = await this.#proc.loading(() => this.#proc.platform.classes.find(order.actor));
      const { descriptor } = actorClass;
      await endBefore(this.#proc.proc, mesh);
      if (this.#unwanted.has(mesh)) throw new Error("it was stopped before it was there");
      const protobuf = order.protobuf === true;
      if (!protobuf && descriptor.fingerprint !== order.fingerprint) return { other: schemaOf(descriptor) };
      const args = protobuf ? descriptor.args.fromProtobuf(order.args) : descriptor.args.decode(order.args);
      if (watch !== undefined) this.#proc.watchLoop(watch);
      const failure = await this.#proc.create({ ...shape, descriptor, actorClass, args, watch });
      return failure === undefined ? {} : { failure: noticeOf(shape, failure) };
    } catch (error) {
      const failure: ActorFailure = { kind: "constructor", error, at: this.#proc.proc.clock.wall() };
      this.#proc.refuse(shape, failure);
      if (this.#unwanted.has(mesh)) await endBefore(this.#proc.proc, mesh);
      return { failure: { ...noticeOf(shape, failure), kind: "spawn" } };
    } finally {
      this.#settled(mesh);
    }
  }

  refuse(mesh: MeshId, name: string, reason: string, place?: ActorPlace): void {
    const error = errorOf({ name: "SpawnError", message: reason });
    const shape = { mesh, name, incarnation: 0, ...placeOf(place), owner: this.#proc.maker };
    this.#proc.refuse(shape, { kind: "constructor", error, at: this.#proc.proc.clock.wall() });
  }

  async stopActor(mesh: MeshId, order: StopOrder): Promise<void> {
    if (this.#ordered.has(mesh)) this.#unwanted.add(mesh);
    await this.#proc.stop(mesh, order);
  }

  async shutdown(order: StopOrder): Promise<void> {
    await this.#proc.stopAll(order);
    this.#proc.leaveSoon(order.reason);
  }

  alive(): void {}

  async moved(move: ActorMove, from: ProcId): Promise<void> {
    await this.#proc.moved(move, from);
  }

  failed(notice: ActorNotice): void {
    this.#proc.notice(notice);
  }

  watchHost(order: HostWatchOrder): void {
    this.#proc.hostWatch.watch(order);
  }

  unwatchHost(host: ProcId): void {
    this.#proc.hostWatch.unwatch(host);
  }

  processPrinted(output: ProcessOutput): void {
    this.#proc.hosted(output.proc)?.printed(output);
  }

  processEnded(ending: ProcessEnding): void {
    this.#proc.hosted(ending.proc)?.ending(ending);
  }

  processFinished(proc: ProcId): void {
    this.#proc.hosted(proc)?.finish();
  }

  hostLeft(host: ProcId, reason: string): void {
    this.#proc.hostLeft(host, reason);
  }

  #settled(mesh: MeshId): void {
    const left = (this.#ordered.get(mesh) ?? 0) - 1;
    if (left > 0) this.#ordered.set(mesh, left);
    else {
      this.#ordered.delete(mesh);
      this.#unwanted.delete(mesh);
    }
  }
}

/** Where an actor stands in its mesh: where it was said to, or as this proc does among those that were addressed. */
function placeOf(place: ActorPlace | undefined): { readonly rank: number; readonly extent: Extent } {
  if (place !== undefined) {
    const { rank, dimensions, sizes } = place;
    return { rank, extent: Object.fromEntries(dimensions.map((name, i) => [name, sizes[i] ?? 0])) };
  }
  const { rank, extent } = context();
  return { rank: rank.rank, extent };
}

/** What comes before any actor: the loader, the registry, the bootstrap module, and the function that this exports. */
async function prepare(
  platform: Platform,
  { loader, registry: place, bootstrap }: ProcConfig,
  point: unknown,
): Promise<void> {
  if (loader !== undefined) ((await platform.load(loader)) as { register(): void }).register();
  if (place !== undefined) await platform.load(place);
  if (bootstrap === undefined) return;
  const { default: run } = (await platform.load(bootstrap)) as { default?: unknown };
  if (typeof run === "function") await run(point);
}
