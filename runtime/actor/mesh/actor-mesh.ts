/**
 * A mesh of actors as users hold it: a region of the ranks of one mesh, with the endpoints of its interface as
 * properties. Slices are meshes too. A handle is a value: it can be sent, and it keeps nothing alive.
 */
import { formatId } from "../../link/address.js";
import {
  formatRegionTable,
  meshOfRegion,
  meshRegion,
  type Point,
  type Region,
  RegionMesh,
  singleRankRegion,
  wholeRegion,
} from "../../shape/index.js";
import type { ActorDescriptor, EndpointDescriptor } from "../../wire/descriptor.js";
import { Endpoint, PropagatedEndpoint } from "../call/endpoint.js";
import { type Future, SettlingFuture } from "../call/future.js";
import { drawLivingRank } from "../call/living-ranks.js";
import { checkKey, rankOfKey } from "../call/rank-of-key.js";
import { StreamEndpoint } from "../call/stream-endpoint.js";
import { currentCell } from "../context.js";
import type { Apply, MeshKind } from "../mesh-kind.js";
import {
  checkStopOptions,
  type MeshRecord,
  type MeshStopOptions,
  noReason,
  reasonSuffix,
} from "../reference/mesh-record.js";
import { MeshView } from "../reference/mesh-view.js";

/** Reached from outside the class, so that no name of it is in the way of an endpoint's. */
let readView: (mesh: ActorMesh) => MeshView;
let endpointOf: (mesh: ActorMesh, index: number) => AnyEndpoint;

type AnyEndpoint = Endpoint | StreamEndpoint;

/**
 * A mesh of actors, or a slice of one. The endpoints of the actor interface are properties of the mesh. A mesh is a
 * value: it can be sent to actors, and it keeps nothing alive.
 *
 * @example
 * ```ts
 * import { type ActorMesh, type Endpoint, range } from "viceroy";
 *
 * interface Counters<D extends string> extends ActorMesh<never, D> {
 *   readonly value: Endpoint<[], number, D>;
 * }
 *
 * declare const counters: Counters<"hosts" | "gpus">;
 * console.log(counters.extent); // { hosts: 2, gpus: 4 }
 * console.log(counters.size); // 8
 * const firstTwo = counters.slice({ gpus: range(0, 2) });
 * for (const [point, value] of await counters.value.call()) console.log(point.toString(), value);
 * ```
 */
export class ActorMesh<K extends MeshKind = MeshKind, D extends string = string> extends RegionMesh<K, D> {
  readonly #view: MeshView;
  readonly #endpoints: (AnyEndpoint | undefined)[] = [];

  static {
    readView = (mesh) => mesh.#view;
    endpointOf = (mesh, index) => {
      let endpoint = mesh.#endpoints[index];
      if (endpoint === undefined) {
        endpoint = new (endpointClassOf(mesh.#view.descriptor.endpoints[index]!))(mesh.#view, index);
        mesh.#endpoints[index] = endpoint;
      }
      return endpoint;
    };
  }

  /**
   * Called by the runtime.
   *
   * @hidden
   */
  constructor(view: MeshView) {
    super();
    this.#view = view;
  }

  /**
   * Resolves when all actors have started. Rejects with the reason if an actor could not be started. Calls need not
   * wait for it.
   */
  get ready(): Promise<void> {
    return this.#view.record.control?.ready ?? Promise.resolve();
  }

  /**
   * Returns a table as text, with one line for each rank: its number, its coordinates, its actor in the mesh that was
   * spawned, and the id of its proc.
   */
  toTable(): string {
    const { region, record } = this.#view;
    return formatRegionTable(region, ["actor", "process"], (rank) => {
      const target = this.#view.target(rank);
      return [`${record.name}[${target.rank}]`, formatId(target.proc)];
    });
  }

  /**
   * Returns the actor that a key belongs to, as a mesh of size 1. The keys are spread evenly over the living ranks, and
   * all processes choose the same rank. When a rank fails, its keys move to other ranks and all others stay; they return
   * when the rank has been restarted. Call this for each message: the mesh that it returns does not follow the key.
   *
   * The handler reads the key from `context().key`.
   *
   * @example
   * ```ts
   * import type { ActorMesh, Endpoint, MeshKind } from "viceroy";
   *
   * interface CartsKind extends MeshKind {
   *   readonly mesh: Carts<this["dims"]>;
   * }
   * interface Carts<D extends string> extends ActorMesh<CartsKind, D> {
   *   readonly add: Endpoint<[product: string], number, D>;
   * }
   *
   * declare const carts: Carts<"workers">;
   * await carts.byKey("user-42").add.callOne("umbrella");
   * ```
   *
   * @param key a text of 1 to 1,024 bytes of UTF-8
   * @throws {TypeError} when the key is not a string, or has half of a surrogate pair
   * @throws {RangeError} when the key is empty or too long, or the mesh is empty
   */
  byKey(key: string): Apply<K, never> {
    const view = this.#view;
    const { record, descriptor, region, size } = view;
    checkKey(record.name, key);
    if (size === 0) throw new RangeError("byKey requires at least 1 actor, but mesh has 0");
    const point = view.point(rankOfKey(view, currentCell(), key));
    return makeMesh(new MeshView(record, descriptor, singleRankRegion(region, point), key)) as Apply<K, never>;
  }

  /**
   * Stops the actors. They take no new messages, handle queued messages for at most `drain` milliseconds, and run
   * `cleanup`. Stopping a mesh again has no effect.
   *
   * @param options the reason, and the time for queued messages
   * @returns a promise that resolves when all actors have ended; it never rejects
   * @throws {Error} when this mesh is a slice, or another process has spawned it
   * @throws {RangeError} when `drain` is negative or larger than 2^32 - 1
   */
  stop(options: MeshStopOptions = {}): Promise<void> {
    const { record, size, region } = this.#view;
    if (!(record.control?.isWhole(region) ?? size === record.size))
      throw new Error(`cannot stop a slice of mesh "${record.name}": stop the whole mesh`);
    if (record.control === undefined) throw new Error(`cannot stop mesh "${record.name}": only its owner can`);
    checkStopOptions(record.name, options);
    record.stopReason ??= options.reason ?? noReason;
    return record.control.stop(options);
  }

  /**
   * Takes a checkpoint of each actor. An actor saves its state between two of its messages, and goes on while the checkpoint
   * is stored. If an actor fails, its earlier checkpoint is kept.
   *
   * @returns a future that resolves when all checkpoints are stored, and rejects with a `CheckpointError` for the lowest
   *   rank whose checkpoint was not
   * @throws {Error} when the mesh was spawned without `restart: { from: "checkpoint" }`, or by another process
   */
  checkpoint(): Future<void> {
    const { record, size } = this.#view;
    const failed = `cannot checkpoint mesh "${record.name}"`;
    if (record.control === undefined) throw new Error(`${failed}: only its owner can`);
    if (record.stopReason !== undefined) throw new Error(`${failed}: it was stopped${reasonSuffix(record.stopReason)}`);
    const ranks = Array.from({ length: size }, (_, rank) => this.#view.target(rank).rank);
    return new SettlingFuture(record.control.checkpoint(ranks));
  }

  /** Stops the actors at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Returns the name and the extent as text: `counters{"gpus":4}`. */
  override toString(): string {
    return `${this.#view.record.name}${JSON.stringify(this.#view.extent)}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `${this.constructor.name} ${this.toString()}`;
  }

  /** @hidden */
  protected get [meshRegion](): Region {
    return this.#view.region;
  }

  /** @hidden */
  protected [meshOfRegion](region: Region): ActorMesh {
    const { record, descriptor, key } = this.#view;
    return makeMesh(new MeshView(record, descriptor, region, key));
  }
}

/** Returns the record that a handle refers to. */
export function viewOf(mesh: ActorMesh): MeshView {
  return readView(mesh);
}

/** The processes of a mesh's actors, in rank order. */
export function procsOf(mesh: ActorMesh): readonly bigint[] {
  return viewOf(mesh).procs;
}

/**
 * Draws a living actor of a mesh at random. Use it to open a stream to any one actor.
 *
 * @returns the position of the actor
 * @throws {SupervisionError} when no actor lives
 */
export function livingPoint(mesh: ActorMesh): Point {
  const view = viewOf(mesh);
  return view.point(drawLivingRank(view, currentCell()));
}

/**
 * Returns the description of an actor interface: its endpoints with their codecs and options.
 *
 * @param of a mesh, or a generated class
 */
export function descriptorOf(of: ActorMesh | { readonly descriptor: ActorDescriptor }): ActorDescriptor {
  return of instanceof ActorMesh ? viewOf(of).descriptor : of.descriptor;
}

const meshClasses = new WeakMap<ActorDescriptor, new (view: MeshView) => ActorMesh>();

/** A handle for a region of a mesh, with the endpoints of `view.descriptor`. */
export function makeMesh(view: MeshView): ActorMesh {
  let meshClass = meshClasses.get(view.descriptor);
  if (meshClass === undefined) {
    meshClass = createMeshClass(view.descriptor);
    meshClasses.set(view.descriptor, meshClass);
  }
  return new meshClass(view);
}

function endpointClassOf({
  stream,
  interceptor,
}: EndpointDescriptor): new (
  view: MeshView,
  index: number,
) => AnyEndpoint {
  if (stream) return StreamEndpoint;
  return interceptor?.retainsResults === true ? PropagatedEndpoint : Endpoint;
}

/** The class of the meshes of one interface: its endpoints are getters of the prototype. */
function createMeshClass(descriptor: ActorDescriptor): new (view: MeshView) => ActorMesh {
  const meshClass = class extends ActorMesh {};
  Object.defineProperty(meshClass, "name", { value: `${descriptor.name}Mesh`, configurable: true });
  descriptor.endpoints.forEach(({ name, retains }, index) => {
    if (retains !== undefined) return;
    Object.defineProperty(meshClass.prototype, name, {
      get(this: ActorMesh) {
        return endpointOf(this, index);
      },
      enumerable: true,
      configurable: true,
    });
  });
  return meshClass;
}

/** A handle for the whole of a mesh. */
export function wholeMesh(record: MeshRecord, descriptor: ActorDescriptor): ActorMesh {
  return makeMesh(new MeshView(record, descriptor, wholeRegion(record.extent)));
}
