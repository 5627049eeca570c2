/**
 * The methods that cut and reshape meshes, shared by the meshes of hosts, procs, actors and values. A mesh is a region
 * of a larger mesh, and each method returns the mesh of another region of it.
 */
import type { Extent } from "./extent.js";
import { type Point, points } from "./point.js";
import { type Region, regionExtent, regionSize } from "./region.js";
import { flattenRegion, renameRegion, splitRegion } from "./reshape.js";
import type {
  OnlyKeys,
  PointFor,
  Renamed,
  RenameSpec,
  Sliced,
  SliceSpec,
  Split,
  SplitNames,
  SplitSizes,
  SplitSpec,
} from "./reshape-types.js";
import { singleRankRegion, sliceRegion } from "./slice.js";

/** Keys of the members that a mesh implements. They are symbols because the endpoints of actors share the names. */
export const meshRegion = Symbol("region");
export const meshOfRegion = Symbol("mesh of region");

/** Maps the names of dimensions to a type of meshes. */
export interface RegionMeshKind {
  /** The names of the dimensions, set by {@link Apply}. */
  readonly dims: string;
  /** The type of the mesh with the dimensions `this["dims"]`. */
  readonly mesh: unknown;
}

/** The type of the meshes of the kind `K` with the dimensions `D`. */
export type Apply<K, D extends string> = K extends { readonly mesh: unknown }
  ? (K & { readonly dims: D })["mesh"]
  : never;

/** A mesh that can be cut into slices and given other dimensions. */
export abstract class ReshapableMesh<K, D extends string> {
  /**
   * The region of this mesh.
   *
   * @hidden
   */
  protected abstract readonly [meshRegion]: Region;

  /**
   * Returns the mesh of another region of the same larger mesh.
   *
   * @hidden
   */
  protected abstract [meshOfRegion](region: Region): unknown;

  /**
   * Returns a part of the mesh, whose ranks are numbered from 0. An index removes its dimension, a `range` keeps
   * a part of the dimension, and a point selects one rank.
   *
   * @param point a position in this mesh
   * @returns the part as a mesh of its own, with the same members
   * @throws {TypeError} when a dimension does not exist, or the point belongs to another extent
   * @throws {RangeError} when an index or a range is outside the dimension, or a range is empty
   */
  slice<P extends string>(point: PointFor<D, P>): Apply<K, never>;
  /**
   * @param spec an index or a range for each dimension to cut: `{ gpus: 0 }`, `{ gpus: range(0, 4) }`
   * @returns the part as a mesh of its own, with the same members
   */
  slice<const S extends SliceSpec<D>>(spec: OnlyKeys<D, S>): Apply<K, Sliced<D, S>>;
  slice(spec: SliceSpec | Point): unknown {
    return this[meshOfRegion](sliceRegion(this[meshRegion], spec));
  }

  /**
   * Replaces dimensions by several dimensions each: `split({ gpus: ["dp", "tp"] }, { tp: 2 })`. Ranks and their order
   * stay.
   *
   * @param spec the new dimensions of each dimension to split, outermost first
   * @param sizes the sizes of the new dimensions; one size of each split can be left out
   * @returns the same members with other dimensions
   * @throws {TypeError} when a dimension does not exist, a name is used twice, or a size is missing
   * @throws {RangeError} when the sizes do not multiply to the size of the dimension
   */
  split<const M extends SplitSpec<D>>(
    spec: OnlyKeys<D, M>,
    sizes: SplitSizes<SplitNames<M>> = {},
  ): Apply<K, Split<D, M>> {
    const region = splitRegion<string, SplitSpec>(this[meshRegion], spec, sizes);
    return this[meshOfRegion](region) as Apply<K, Split<D, M>>;
  }

  /**
   * Gives dimensions other names: `rename({ gpus: "tp" })`.
   *
   * @param names the new name of each dimension to rename
   * @returns the same members with other dimensions
   * @throws {TypeError} when a dimension does not exist, or a name is invalid or used twice
   */
  rename<const M extends RenameSpec<D>>(names: OnlyKeys<D, M>): Apply<K, Renamed<D, M>> {
    const region = renameRegion<string, RenameSpec>(this[meshRegion], names);
    return this[meshOfRegion](region) as Apply<K, Renamed<D, M>>;
  }

  /**
   * Replaces all dimensions by one. Ranks and their order stay.
   *
   * @param name of the new dimension: letters, digits and underscores, with no digit first
   * @returns the same members with one dimension
   * @throws {TypeError} when `name` is invalid
   * @throws {RangeError} when this mesh is a slice that leaves out ranks in between
   */
  flatten<N extends string>(name: N): Apply<K, N> {
    return this[meshOfRegion](flattenRegion(this[meshRegion], name)) as Apply<K, N>;
  }
}

/** A mesh of hosts, procs or actors: each of its ranks is a mesh, too. */
export abstract class RegionMesh<K, D extends string> extends ReshapableMesh<K, D> {
  /** The size of each dimension, in the order of the dimensions. */
  get extent(): Extent<D> {
    return regionExtent(this[meshRegion]) as Extent<D>;
  }

  /** The number of ranks. */
  get size(): number {
    return regionSize(this[meshRegion]);
  }

  /**
   * Returns one member, as a mesh of size 1.
   *
   * @param point the position of the member: a {@link Point} of a mesh with the same extent
   * @throws {TypeError} when the point belongs to another extent
   */
  at<P extends string>(point: PointFor<D, P>): Apply<K, never> {
    return this[meshOfRegion](singleRankRegion(this[meshRegion], point)) as Apply<K, never>;
  }

  /** Yields the position and the member of each rank, in rank order. */
  *[Symbol.iterator](): Generator<[Point<D>, Apply<K, never>], void, undefined> {
    for (const point of points(this[meshRegion])) yield [point as Point<D>, this.at(point as never)];
  }
}
