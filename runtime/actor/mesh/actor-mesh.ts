/**
 * A mesh of actors as users hold it: a region of the ranks of one mesh, with the endpoints of its interface as
 * properties. Slices are meshes too. A handle is a value: it can be sent, and it keeps nothing alive.
 */
import { formatId } from "../../link/address.js";
import {
  type Extent,
  flattenRegion,
  formatRegionTable,
  type OnlyKeys,
  type Point,
  type PointFor,
  points,
  type Region,
  type Renamed,
  type RenameSpec,
  renameRegion,
  type Sliced,
  type SliceSpec,
  type Split,
  type SplitNames,
  type SplitSizes,
  type SplitSpec,
  singleRankRegion,
  sliceRegion,
  splitRegion,
  wholeRegion,
} from "../../shape/index.js";
import type { ActorDescriptor, EndpointDescriptor } from "../../wire/descriptor.js";
import { Endpoint, PropagatedEndpoint } from "../call/endpoint.js";
import { drawLivingRank } from "../call/living-ranks.js";
import { StreamEndpoint } from "../call/stream-endpoint.js";
import { currentCell } from "../context.js";
import type { Apply, MeshKind } from "../mesh-kind.js";
import { checkStopOptions, type MeshRecord, type MeshStopOptions, noReason } from "../reference/mesh-record.js";
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
export class ActorMesh<K extends MeshKind = MeshKind, D extends string = string> {
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
    this.#view = view;
  }

  /** The size of each dimension, in the order of the dimensions. */
  get extent(): Extent<D> {
    return this.#view.extent as Extent<D>;
  }

  /** The number of actors. */
  get size(): number {
    return this.#view.size;
  }

  /**
   * Resolves when all actors have started. Rejects with the reason if an actor could not be started. Calls need not
   * wait for it.
   */
  get ready(): Promise<void> {
    return this.#view.record.control?.ready ?? Promise.resolve();
  }

  /**
   * Returns a part of the mesh, whose ranks are numbered from 0. An index removes its dimension, a {@link range} keeps
   * a part of the dimension, and a point selects one actor.
   *
   * @param point a position in this mesh
   * @returns the part as a mesh of its own; the actors are the same
   * @throws {TypeError} when a dimension does not exist, or the point belongs to another extent
   * @throws {RangeError} when an index or a range is outside the dimension, or a range is empty
   */
  slice<P extends string>(point: PointFor<D, P>): Apply<K, never>;
  /**
   * @param spec an index or a range for each dimension to cut: `{ gpus: 0 }`, `{ gpus: range(0, 4) }`
   * @returns the part as a mesh of its own; the actors are the same
   */
  slice<const S extends SliceSpec<D>>(spec: OnlyKeys<D, S>): Apply<K, Sliced<D, S>>;
  slice(spec: SliceSpec | Point): unknown {
    return this.#withRegion(sliceRegion(this.#view.region, spec));
  }

  /**
   * Replaces dimensions by several dimensions each: `split({ gpus: ["dp", "tp"] }, { tp: 2 })`. Ranks and their order
   * stay.
   *
   * @param spec the new dimensions of each dimension to split, outermost first
   * @param sizes the sizes of the new dimensions; one size of each split can be left out
   * @returns the same actors with other dimensions
   * @throws {TypeError} when a dimension does not exist, a name is used twice, or a size is missing
   * @throws {RangeError} when the sizes do not multiply to the size of the dimension
   */
  split<const M extends SplitSpec<D>>(
    spec: OnlyKeys<D, M>,
    sizes: SplitSizes<SplitNames<M>> = {},
  ): Apply<K, Split<D, M>> {
    return this.#withRegion(splitRegion<string, SplitSpec>(this.#view.region, spec, sizes)) as Apply<K, Split<D, M>>;
  }

  /**
   * Gives dimensions other names: `rename({ gpus: "tp" })`.
   *
   * @param names the new name of each dimension to rename
   * @returns the same actors with other dimensions
   * @throws {TypeError} when a dimension does not exist, or a name is invalid or used twice
   */
  rename<const M extends RenameSpec<D>>(names: OnlyKeys<D, M>): Apply<K, Renamed<D, M>> {
    return this.#withRegion(renameRegion<string, RenameSpec>(this.#view.region, names)) as Apply<K, Renamed<D, M>>;
  }

  /**
   * Replaces all dimensions by one. Ranks and their order stay.
   *
   * @param name of the new dimension: letters, digits and underscores, with no digit first
   * @returns the same actors with one dimension
   * @throws {TypeError} when `name` is invalid
   * @throws {RangeError} when this mesh is a slice that leaves out ranks in between
   */
  flatten<N extends string>(name: N): Apply<K, N> {
    return this.#withRegion(flattenRegion(this.#view.region, name)) as Apply<K, N>;
  }

  /**
   * Returns one actor, as a mesh of size 1.
   *
   * @param point the position of the actor: a {@link Point} of a mesh with the same extent
   * @throws {TypeError} when the point belongs to another extent
   */
  at<P extends string>(point: PointFor<D, P>): Apply<K, never> {
    return this.#withRegion(singleRankRegion(this.#view.region, point)) as Apply<K, never>;
  }

  /** Yields the position and the actor of each rank, in rank order. */
  *[Symbol.iterator](): Generator<[Point<D>, Apply<K, never>], void, undefined> {
    for (const point of points(this.#view.region)) yield [point as Point<D>, this.at(point as never)];
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
   * Stops the actors. They take no new messages, handle queued messages for at most `drain` milliseconds, and run
   * `cleanup`. Stopping a mesh again has no effect.
   *
   * @param options the reason, and the time for queued messages
   * @returns a promise that resolves when all actors have ended; it never rejects
   * @throws {Error} when this mesh is a slice, or another process has spawned it
   * @throws {RangeError} when `drain` is negative or larger than 2^32 - 1
   */
  stop(options: MeshStopOptions = {}): Promise<void> {
    const { record, size } = this.#view;
    if (size !== record.size) throw new Error(`cannot stop a slice of mesh "${record.name}": stop the whole mesh`);
    if (record.control === undefined) throw new Error(`cannot stop mesh "${record.name}": only its owner can`);
    checkStopOptions(record.name, options);
    record.stopReason ??= options.reason ?? noReason;
    return record.control.stop(options);
  }

  /** Stops the actors at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Returns the name and the extent as text: `counters{"gpus":4}`. */
  toString(): string {
    return `${this.#view.record.name}${JSON.stringify(this.#view.extent)}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `${this.constructor.name} ${this.toString()}`;
  }

  #withRegion(region: Region): ActorMesh {
    return makeMesh(new MeshView(this.#view.record, this.#view.descriptor, region));
  }
}

/** What a handle refers to. */
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

function endpointClassOf({ stream, tensors }: EndpointDescriptor): new (view: MeshView, index: number) => AnyEndpoint {
  if (stream) return StreamEndpoint;
  return tensors?.propagates === true ? PropagatedEndpoint : Endpoint;
}

/** The class of the meshes of one interface: its endpoints are getters of the prototype. */
function createMeshClass(descriptor: ActorDescriptor): new (view: MeshView) => ActorMesh {
  const meshClass = class extends ActorMesh {};
  Object.defineProperty(meshClass, "name", { value: `${descriptor.name}Mesh`, configurable: true });
  descriptor.endpoints.forEach(({ name, keeps }, index) => {
    if (keeps !== undefined) return;
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
