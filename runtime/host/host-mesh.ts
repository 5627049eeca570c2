/** A mesh of hosts as users hold it: where procs are made. There is one host as yet, this one. */
import { currentCell } from "../actor/context.js";
import { type Local, local } from "../proc/local.js";
import { OwnProc } from "../proc/own-proc.js";
import {
  type Extent,
  extentSize,
  flattenRegion,
  joinExtents,
  type Only,
  type Point,
  type PointFor,
  points,
  type Region,
  type Renamed,
  type RenameSpec,
  regionExtent,
  regionSize,
  regionTable,
  renameRegion,
  type Sliced,
  type SliceSpec,
  type Split,
  type SplitNames,
  type SplitSizes,
  type SplitSpec,
  sliceRegion,
  splitRegion,
  wholeRegion,
} from "../shape/index.js";
import { planProcs, type ReplaceOptions, type SpawnProcsOptions } from "./options.js";
import { ProcMesh } from "./proc-mesh.js";
import { replacements, startProcs } from "./start-procs.js";

export class HostMesh<D extends string = string> {
  readonly #local: Local;
  readonly #region: Region;

  /** Made by `thisHost`. */
  constructor(here: Local, region: Region) {
    this.#local = here;
    this.#region = region;
  }

  /** Dimension to size, in order. */
  get extent(): Extent<D> {
    return regionExtent(this.#region) as Extent<D>;
  }

  /** The number of hosts. */
  get size(): number {
    return regionSize(this.#region);
  }

  /**
   * Starts procs on each host, owned by the actor that this is called in, and returns at once: actors can be spawned on
   * them, and called, while they start.
   * @param perHost dimension to size, in addition to those of the hosts: `{ gpus: 4 }`
   * @throws TypeError, RangeError for dimensions and options that make no sense
   */
  spawnProcs<P extends string = never>(
    perHost: Extent<P> = {} as Extent<P>,
    options: SpawnProcsOptions<D | P> = {},
  ): ProcMesh<D | P> {
    const extent = joinExtents(this.extent, perHost);
    const plan = planProcs(options, extentSize(extent));
    const procs = startProcs(this.#local, extent, plan);
    const replacing = (changes: ReplaceOptions) => {
      const changed = { ...options, ...changes } as SpawnProcsOptions;
      return replacements(this.#local, procs, planProcs(changed, extentSize(extent)));
    };
    return new ProcMesh<D | P>(procs, wholeRegion(extent), replacing);
  }

  /** Part of the mesh, with ranks counted from 0: an index drops its dimension, a range keeps part of it. */
  slice<P extends string>(point: PointFor<D, P>): HostMesh<never>;
  slice<const S extends SliceSpec<D>>(spec: Only<D, S>): HostMesh<Sliced<D, S>>;
  slice(spec: SliceSpec | Point): unknown {
    return this.#cut(sliceRegion(this.#region, spec));
  }

  /** Several dimensions, outermost first, in place of one; one size for each split may be left out. */
  split<const M extends SplitSpec<D>>(spec: Only<D, M>, sizes: SplitSizes<SplitNames<M>> = {}): HostMesh<Split<D, M>> {
    return this.#cut(splitRegion<string, SplitSpec>(this.#region, spec, sizes));
  }

  /** Other names for dimensions. */
  rename<const M extends RenameSpec<D>>(names: Only<D, M>): HostMesh<Renamed<D, M>> {
    return this.#cut(renameRegion<string, RenameSpec>(this.#region, names));
  }

  /** One dimension in place of all. @throws RangeError if this is a slice that leaves out ranks in between */
  flatten<N extends string>(name: N): HostMesh<N> {
    return this.#cut(flattenRegion(this.#region, name));
  }

  /** The host at a place. */
  at<P extends string>(point: PointFor<D, P>): HostMesh<never> {
    return this.#cut(sliceRegion(this.#region, point as Point));
  }

  /** Each place with its host, in rank order. */
  *[Symbol.iterator](): Generator<[Point<D>, HostMesh<never>], void, undefined> {
    for (const point of points(this.#region)) yield [point as Point<D>, this.at(point as never)];
  }

  /** One line for each rank: its number and its coordinates. */
  toTable(): string {
    return regionTable(this.#region, [], () => []);
  }

  #cut<E extends string>(region: Region): HostMesh<E> {
    return new HostMesh(this.#local, region);
  }
}

/** The machine that this process runs on, as a mesh of one host without dimensions. */
export function thisHost(): HostMesh<never> {
  return new HostMesh(local(), wholeRegion({}));
}

const ownProcs = new WeakMap<object, OwnProc>();

/** The process, or the part of one, that the calling code belongs to, as a mesh of one proc without dimensions. */
export function thisProc(): ProcMesh<never> {
  const here = local();
  const { proc } = currentCell();
  let own = ownProcs.get(proc);
  if (own === undefined) {
    own = new OwnProc(here, here.procs.get(proc.id)!);
    ownProcs.set(proc, own);
  }
  return new ProcMesh<never>(own, wholeRegion({}));
}
