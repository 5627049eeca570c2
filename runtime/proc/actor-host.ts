/**
 * Where actors can be spawned: what is the same for processes made from here and for the own process. Checks what can be
 * checked before anything is done, keeps the names apart, and knows the meshes until they have been stopped.
 */
import { because, type RankLocation } from "../actor/address.js";
import type { Cell } from "../actor/cell.js";
import { holderName, noteHolders } from "../actor/holders.js";
import type { ActorClass, StopOptions } from "../actor/hooks.js";
import { type ActorMesh, wholeMesh } from "../actor/mesh.js";
import type { Proc } from "../actor/proc.js";
import { type Region, regionExtent } from "../shape/index.js";
import type { MeshFailure } from "../supervise/failure.js";
import type { RestartPlan } from "../supervise/restart.js";
import type { ActorDescriptor } from "../wire/descriptor.js";
import { encodeArguments } from "./arguments.js";
import type { Local } from "./local.js";
import { type MeshHost, SpawnedMesh, type SpawnPlan } from "./spawned-mesh.js";

/** How the actors of a mesh are kept, apart from what they are. */
export type ActorPlan = Pick<SpawnPlan, "restart" | "watch">;

export abstract class ActorHost implements MeshHost {
  abstract readonly name: string;
  /** The proc that gives the orders. */
  abstract readonly proc: Proc;
  protected readonly local: Local;
  /** Until they have been stopped. */
  readonly meshes = new Set<SpawnedMesh>();
  readonly #names = new Map<Cell, Map<string, SpawnedMesh>>();

  constructor(local: Local) {
    this.local = local;
  }

  /** Why nothing can be spawned here any more. */
  protected abstract readonly stopped: string | undefined;

  /** Where the procs of a region are, in rank order. */
  abstract places(region: Region): readonly RankLocation[];

  /** Sees to it that the actors are created. What it throws, `spawn` throws. */
  protected abstract create(mesh: SpawnedMesh): void;

  abstract stopActors(mesh: SpawnedMesh, options: StopOptions): Promise<unknown>;

  abstract restart(mesh: SpawnedMesh, rank: number): Promise<void>;

  /** What becomes of actors here that fail, where nothing else is said. */
  protected get restartsActors(): RestartPlan | undefined {
    return undefined;
  }

  /** @throws Error if no more can be spawned here, and what the registry and the codec of the arguments throw */
  spawn(
    region: Region,
    name: string,
    actorClass: ActorClass,
    args: readonly unknown[],
    owner: Cell,
    { restart = this.restartsActors, watch }: ActorPlan = {},
  ): ActorMesh {
    this.#checkPlace(name);
    this.local.checkSpawn(owner, `"${name}"`);
    const descriptor = this.local.platform.classes.check(actorClass);
    checkArity(name, descriptor, args.length);
    this.#checkName(name, owner);
    const plan = { actorClass, descriptor, ...encodeArguments(descriptor.args, args), restart, watch };
    const { proc } = this;
    const record = proc.records.of({ id: proc.random.id(), name, owner: proc.id, extent: regionExtent(region) });
    const places = this.places(region);
    for (const [rank, place] of places.entries()) record.locate(rank, place);
    noteHolders(
      proc,
      places.map((place, rank) => ({ proc: place.proc, name: holderName({ mesh: record.id, rank, incarnation: 0 }) })),
    );
    const mesh = new SpawnedMesh(record, owner, region, plan, this);
    record.control = mesh;
    this.#keep(mesh);
    try {
      this.create(mesh);
    } catch (error) {
      this.forget(mesh);
      throw error;
    }
    return wholeMesh(record, descriptor);
  }

  tell(owner: Cell, failure: MeshFailure): void {
    void this.local.supervisor.tell(owner, failure);
  }

  forget(mesh: SpawnedMesh): void {
    this.meshes.delete(mesh);
    this.local.meshes.delete(mesh.record.id);
    this.local.ownership.remove(mesh.owner, mesh);
    const names = this.#names.get(mesh.owner);
    if (names?.get(mesh.name) === mesh) names.delete(mesh.name);
    if (names?.size === 0) this.#names.delete(mesh.owner);
  }

  #keep(mesh: SpawnedMesh): void {
    const { owner, name, record } = mesh;
    this.meshes.add(mesh);
    this.local.meshes.set(record.id, mesh);
    this.local.ownership.add(owner, mesh);
    this.local.endInOrder();
    const names = this.#names.get(owner);
    if (names === undefined) this.#names.set(owner, new Map([[name, mesh]]));
    else names.set(name, mesh);
  }

  #checkPlace(name: string): void {
    if (typeof name !== "string" || name === "") {
      throw new TypeError(`cannot spawn an actor: expected a name, got ${JSON.stringify(name)}`);
    }
    if (this.stopped === undefined) return;
    throw new Error(`cannot spawn "${name}": mesh "${this.name}" was stopped${because(this.stopped)}`);
  }

  #checkName(name: string, owner: Cell): void {
    if (this.#names.get(owner)?.get(name)?.over !== false) return;
    throw new Error(
      `cannot spawn "${name}": mesh "${this.name}" has actors of that name; stop them first, or take another name`,
    );
  }
}

function checkArity(name: string, { minArgs, maxArgs }: ActorDescriptor, got: number): void {
  if (got >= minArgs && got <= maxArgs) return;
  const expected = minArgs === maxArgs ? `${maxArgs}` : `${minArgs} to ${maxArgs}`;
  throw new TypeError(`cannot spawn "${name}": expected ${expected} argument${maxArgs === 1 ? "" : "s"}, got ${got}`);
}
