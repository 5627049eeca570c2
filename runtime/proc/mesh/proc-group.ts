/**
 * `ProcGroup`: a set of procs on which actors can be spawned. This is the part that spawned procs (`SpawnedProcs`) and
 * the own process (`OwnProc`) have in common: it checks the arguments before anything is spawned, keeps the names of
 * meshes unique per owner, and knows its meshes until they have been stopped.
 */

import type { Checkpoint } from "../../../generated/checkpoint.js";
import { type ActorMesh, wholeMesh } from "../../actor/mesh/actor-mesh.js";
import { announceHolders, holderName } from "../../actor/port/announce-holders.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ActorClass } from "../../actor/reference/actor-request.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import { type RankLocation, reasonSuffix } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { MeshId } from "../../link/address.js";
import { type Region, regionExtent } from "../../shape/index.js";
import type { MeshFailure } from "../../supervise/mesh-failure.js";
import type { RestartPlan } from "../../supervise/restart-policy.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { ProcessRuntime } from "../process/process-runtime.js";
import { encodeArguments } from "./constructor-arguments.js";
import type { SpawnPlan } from "./spawn-plan.js";
import { type MeshOperations, type RestoredRank, SpawnedActors } from "./spawned-actors.js";

/** The restart policy and the time limits of the actors of a mesh. */
export type SupervisionPlan = Pick<SpawnPlan, "restart" | "watch" | "maxCalls">;

export abstract class ProcGroup implements MeshOperations {
  abstract readonly name: string;
  /** The proc that sends the orders. */
  abstract readonly proc: Proc;
  readonly runtime: ProcessRuntime;
  /** The meshes on these procs that have not been stopped. */
  readonly meshes = new Set<SpawnedActors>();
  readonly #meshesByName = new Map<LocalActor, Map<string, SpawnedActors>>();

  constructor(runtime: ProcessRuntime) {
    this.runtime = runtime;
  }

  /** The reason why nothing can be spawned here any more, or undefined while spawning is possible. */
  protected abstract readonly stopReason: string | undefined;

  /** @throws Error if a proc of the region has left the mesh. @param failed the start of the error message */
  checkMembers(_region: Region, _failed: string): void {}

  /** Returns the locations of the procs of a region, in rank order. */
  abstract locations(region: Region): readonly RankLocation[];

  /** Orders the actors of a mesh. `spawn` rethrows what this method throws. */
  protected abstract createActors(mesh: SpawnedActors): void;

  abstract stopActors(mesh: SpawnedActors, options: StopOptions): Promise<unknown>;

  abstract saveActor(mesh: SpawnedActors, rank: number): Promise<Checkpoint>;

  abstract restartActor(mesh: SpawnedActors, rank: number): Promise<void>;

  abstract renewActor(mesh: SpawnedActors, rank: number): void;

  /** The restart policy of meshes for which `spawn` was given none. */
  protected get defaultRestart(): RestartPlan | undefined {
    return undefined;
  }

  /**
   * @throws Error if nothing can be spawned here any more; also rethrows the errors of the registry and of the argument
   * codec
   */
  spawn(
    region: Region,
    name: string,
    actorClass: ActorClass,
    args: readonly unknown[],
    owner: LocalActor,
    { restart = this.defaultRestart, watch, maxCalls }: SupervisionPlan = {},
  ): ActorMesh {
    this.#checkOpen(name);
    this.checkMembers(region, `cannot spawn "${name}"`);
    this.runtime.checkSpawn(owner, `"${name}"`);
    const descriptor = this.runtime.platform.classes.descriptorOf(actorClass);
    checkArgumentCount(name, descriptor, args.length);
    this.#checkNameFree(name, owner);
    if (restart?.checkpoints !== undefined) checkStateful(name, actorClass, descriptor);
    const plan = { actorClass, descriptor, ...encodeArguments(descriptor.args, args), restart, watch, maxCalls };
    const { proc } = this;
    const record = proc.records.findOrCreate({
      id: proc.random.id(),
      name,
      owner: proc.id,
      extent: regionExtent(region),
    });
    const places = this.locations(region);
    for (const [rank, place] of places.entries()) record.setLocation(rank, place);
    announceHolders(
      proc,
      places.map((place, rank) => ({ proc: place.proc, name: holderName({ mesh: record.id, rank, incarnation: 0 }) })),
    );
    const mesh = new SpawnedActors(record, owner, region, plan, this);
    record.control = mesh;
    this.#register(mesh);
    try {
      this.createActors(mesh);
    } catch (error) {
      this.forget(mesh);
      throw error;
    }
    mesh.checkpoints?.start();
    return wholeMesh(record, descriptor);
  }

  /** Takes over a mesh of actors that another process has owned. Its actors exist. */
  adopt(
    identity: { readonly id: MeshId; readonly name: string },
    owner: LocalActor,
    region: Region,
    plan: SpawnPlan,
    ranks: readonly RestoredRank[],
  ): ActorMesh {
    const { proc } = this;
    const record = proc.records.findOrCreate({ ...identity, owner: proc.id, extent: regionExtent(region) });
    for (const [rank, place] of this.locations(region).entries()) {
      record.setLocation(rank, { ...place, generation: ranks[rank]!.incarnation });
    }
    const mesh = new SpawnedActors(record, owner, region, plan, this);
    record.control = mesh;
    this.#register(mesh);
    mesh.restore(ranks);
    return wholeMesh(record, plan.descriptor);
  }

  warn(message: string, type: string): void {
    this.runtime.platform.warn(message, type);
  }

  reportFailure(owner: LocalActor, failure: MeshFailure): void {
    void this.runtime.supervisor.notifyOwner(owner, failure);
  }

  forget(mesh: SpawnedActors): void {
    this.meshes.delete(mesh);
    this.runtime.spawnedActors.delete(mesh.record.id);
    this.runtime.publishedMeshes.meshStopped(mesh.record.id);
    this.runtime.ownership.remove(mesh.owner, mesh);
    const names = this.#meshesByName.get(mesh.owner);
    if (names?.get(mesh.name) === mesh) names.delete(mesh.name);
    if (names?.size === 0) this.#meshesByName.delete(mesh.owner);
  }

  #register(mesh: SpawnedActors): void {
    const { owner, name, record } = mesh;
    this.meshes.add(mesh);
    this.runtime.spawnedActors.set(record.id, mesh);
    this.runtime.ownership.add(owner, mesh);
    this.runtime.registerShutdown();
    const names = this.#meshesByName.get(owner);
    if (names === undefined) this.#meshesByName.set(owner, new Map([[name, mesh]]));
    else names.set(name, mesh);
  }

  #checkOpen(name: string): void {
    if (typeof name !== "string" || name === "") {
      throw new TypeError(`cannot spawn an actor: expected a name, got ${JSON.stringify(name)}`);
    }
    if (this.stopReason === undefined) return;
    throw new Error(`cannot spawn "${name}": mesh "${this.name}" was stopped${reasonSuffix(this.stopReason)}`);
  }

  #checkNameFree(name: string, owner: LocalActor): void {
    if (this.#meshesByName.get(owner)?.get(name)?.isOver !== false) return;
    throw new Error(
      `cannot spawn "${name}": mesh "${this.name}" has actors of that name; stop them first, or take another name`,
    );
  }
}

/** @throws TypeError if actors of a class cannot be restarted from checkpoints */
function checkStateful(name: string, actorClass: ActorClass, descriptor: ActorDescriptor): void {
  const failed = `cannot spawn "${name}": restart from a checkpoint requires`;
  if (descriptor.state === undefined) {
    const advice = `declare it as interface ${descriptor.name} extends Actor<[…], State>`;
    throw new TypeError(`${failed} a state, but the interface ${descriptor.name} has none; ${advice}`);
  }
  const methods = actorClass.prototype as { readonly save?: unknown; readonly restore?: unknown };
  for (const method of ["save", "restore"] as const) {
    if (typeof methods[method] === "function") continue;
    throw new TypeError(`${failed} the methods save and restore, but class ${actorClass.name} has no ${method}`);
  }
}

function checkArgumentCount(name: string, { minArgs, maxArgs }: ActorDescriptor, got: number): void {
  if (got >= minArgs && got <= maxArgs) return;
  const expected = minArgs === maxArgs ? `${maxArgs}` : `${minArgs} to ${maxArgs}`;
  throw new TypeError(`cannot spawn "${name}": expected ${expected} argument${maxArgs === 1 ? "" : "s"}, got ${got}`);
}
