/**
 * A mesh of actors as users hold it: a region of the ranks of one mesh, with the endpoints of its interface as
 * properties. Slices are meshes too. A handle is a value: it can be sent, and it keeps nothing alive.
 */
import { hex64 } from "../../link/address.js";
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
import { Endpoint, PropagatedEndpoint, StreamEndpoint } from "../call/endpoint.js";
import { drawLivingRank } from "../call/living-ranks.js";
import { currentCell } from "../context.js";
import type { Apply, MeshKind } from "../mesh-kind.js";
import { checkStopOptions, type MeshRecord, type MeshStopOptions, noReason } from "../reference/mesh-record.js";
import { MeshView } from "../reference/mesh-view.js";

/** Reached from outside the class, so that no name of it is in the way of an endpoint's. */
let readView: (mesh: ActorMesh) => MeshView;
let endpointOf: (mesh: ActorMesh, index: number) => AnyEndpoint;

type AnyEndpoint = Endpoint | StreamEndpoint;

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

  /** Made by `makeMesh`. */
  constructor(view: MeshView) {
    this.#view = view;
  }

  /** Dimension to size, in order. */
  get extent(): Extent<D> {
    return this.#view.extent as Extent<D>;
  }

  /** The number of actors. */
  get size(): number {
    return this.#view.size;
  }

  /** Resolves when all actors are there; rejects with why one is not. */
  get ready(): Promise<void> {
    return this.#view.record.control?.ready ?? Promise.resolve();
  }

  /** Part of the mesh, with ranks counted from 0: an index drops its dimension, a range keeps part of it. */
  slice<P extends string>(point: PointFor<D, P>): Apply<K, never>;
  slice<const S extends SliceSpec<D>>(spec: OnlyKeys<D, S>): Apply<K, Sliced<D, S>>;
  slice(spec: SliceSpec | Point): unknown {
    return this.#withRegion(sliceRegion(this.#view.region, spec));
  }

  /** Several dimensions, outermost first, in place of one; one size for each split may be left out. */
  split<const M extends SplitSpec<D>>(
    spec: OnlyKeys<D, M>,
    sizes: SplitSizes<SplitNames<M>> = {},
  ): Apply<K, Split<D, M>> {
    return this.#withRegion(splitRegion<string, SplitSpec>(this.#view.region, spec, sizes)) as Apply<K, Split<D, M>>;
  }

  /** Other names for dimensions. */
  rename<const M extends RenameSpec<D>>(names: OnlyKeys<D, M>): Apply<K, Renamed<D, M>> {
    return this.#withRegion(renameRegion<string, RenameSpec>(this.#view.region, names)) as Apply<K, Renamed<D, M>>;
  }

  /** One dimension in place of all. @throws RangeError if this is a slice that leaves out ranks in between */
  flatten<N extends string>(name: N): Apply<K, N> {
    return this.#withRegion(flattenRegion(this.#view.region, name)) as Apply<K, N>;
  }

  /** The actor at a place. */
  at<P extends string>(point: PointFor<D, P>): Apply<K, never> {
    return this.#withRegion(singleRankRegion(this.#view.region, point)) as Apply<K, never>;
  }

  /** Each place with its actor, in rank order. */
  *[Symbol.iterator](): Generator<[Point<D>, Apply<K, never>], void, undefined> {
    for (const point of points(this.#view.region)) yield [point as Point<D>, this.at(point as never)];
  }

  /** One line for each rank: its number, its coordinates, its rank in the mesh as it was spawned, its process. */
  toTable(): string {
    const { region, record } = this.#view;
    return formatRegionTable(region, ["actor", "process"], (rank) => {
      const target = this.#view.target(rank);
      return [`${record.name}[${target.rank}]`, hex64(target.proc)];
    });
  }

  /**
   * Stops the actors: no new messages, then those that wait, for at most `drain` (5 s), then their `cleanup`. Idempotent.
   * @throws Error on a slice, and on a mesh that this program has not spawned
   */
  stop(options: MeshStopOptions = {}): Promise<void> {
    const { record, size } = this.#view;
    if (size !== record.size) throw new Error(`cannot stop a slice of mesh "${record.name}": stop the whole mesh`);
    if (record.control === undefined) throw new Error(`cannot stop mesh "${record.name}": only its owner can`);
    checkStopOptions(record.name, options);
    record.stopReason ??= options.reason ?? noReason;
    return record.control.stop(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

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

/** The place of a living actor of a mesh, drawn at random: for a stream to any one of them. */
export function livingPoint(mesh: ActorMesh): Point {
  const view = viewOf(mesh);
  return view.point(drawLivingRank(view, currentCell()));
}

/** What is known of the interface of a mesh's actors, or of a generated class: its endpoints, their codecs and options. */
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
