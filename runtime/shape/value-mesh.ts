/**
 * The answers of a mesh, one for each rank: immutable, with the shape of the mesh that was asked. Ranks that follow each
 * other and gave the same bytes share one run, so that ten thousand equal answers take the space of one; they share the
 * decoded value too. A slice shares the runs of what it was cut from.
 */
import { type Coordinates, type Extent, formatExtent } from "./extent.js";
import { type Point, points } from "./point.js";
import { baseRank, baseRanks, detachedRegion, type Region, regionExtent, regionSize, wholeRegion } from "./region.js";
import { formatRegionTable, formatTableCell } from "./region-table.js";
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
import { joinEqualNeighbours, RunLengthSequence, type ValueRun } from "./run-length.js";
import { rankAt, sliceRegion } from "./slice.js";

export class ValueMesh<T, D extends string = string> implements Iterable<[Point<D>, T]> {
  /** Dimension to size, in order. */
  readonly extent: Extent<D>;
  /** The number of ranks. */
  readonly size: number;
  /** Where the ranks are in the runs. */
  readonly #region: Region<D>;
  readonly #runs: RunLengthSequence<T>;

  /** Use `ValueMesh.of` or `ValueMesh.fromRuns`. */
  private constructor(region: Region<D>, runs: RunLengthSequence<T>, extent = regionExtent(region)) {
    this.extent = extent;
    this.size = regionSize(region);
    this.#region = region;
    this.#runs = runs;
  }

  /**
   * A mesh of given values, in rank order.
   * @throws RangeError if there are more or fewer values than ranks
   */
  static of<T, D extends string>(extent: Extent<D>, values: Iterable<T>): ValueMesh<T, D> {
    const region = wholeRegion(extent);
    return ValueMesh.inRegion(region, regionExtent(region), values);
  }

  /** As `of`, for those who make many of one shape: `region` is `wholeRegion(extent)`, and the extent a frozen one. */
  static inRegion<T, D extends string>(region: Region<D>, extent: Extent<D>, values: Iterable<T>): ValueMesh<T, D> {
    return ValueMesh.#whole(region, new RunLengthSequence<T>(joinEqualNeighbours(values), undefined), extent);
  }

  /**
   * A mesh of the shape of `region`, whatever it was cut from, with values that are decoded when they are asked for.
   * @param runs in rank order
   * @param decode called once for each run at most; what it throws is thrown where the value is asked for
   * @throws RangeError if the lengths of the runs don't add up to the size of the region
   */
  static fromRuns<B, T, D extends string>(
    region: Region<D>,
    runs: readonly ValueRun<B>[],
    decode: (value: B) => T,
  ): ValueMesh<T, D> {
    return ValueMesh.#whole(detachedRegion(region), new RunLengthSequence<T>(runs, decode));
  }

  static #whole<T, D extends string>(
    region: Region<D>,
    runs: RunLengthSequence<T>,
    extent?: Extent<D>,
  ): ValueMesh<T, D> {
    const mesh = new ValueMesh(region, runs, extent);
    if (runs.size === mesh.size) return mesh;
    throw new RangeError(
      `cannot make a mesh of values: expected ${mesh.size} for ${formatExtent(mesh.extent)}, got ${runs.size}`,
    );
  }

  /**
   * The value at a place: a point of this extent, or an index for each dimension.
   * @throws TypeError or RangeError if there is no such place
   */
  at<P extends string>(point: PointFor<D, P>): T;
  at(coordinates: Coordinates<D>): T;
  at(where: Point | Coordinates): T {
    return this.#runs.at(baseRank(this.#region, rankAt(this.#region, where)));
  }

  /** Part of the values, with ranks counted from 0: an index drops its dimension, a range keeps part of it. */
  slice<P extends string>(point: PointFor<D, P>): ValueMesh<T, never>;
  slice<const S extends SliceSpec<D>>(spec: OnlyKeys<D, S>): ValueMesh<T, Sliced<D, S>>;
  slice(spec: SliceSpec | Point): unknown {
    return new ValueMesh<T, string>(sliceRegion(this.#region, spec as SliceSpec | Point), this.#runs);
  }

  /** Several dimensions, outermost first, in place of one; one size for each split may be left out. */
  split<const M extends SplitSpec<D>>(
    spec: OnlyKeys<D, M>,
    sizes: SplitSizes<SplitNames<M>> = {},
  ): ValueMesh<T, Split<D, M>> {
    return new ValueMesh(splitRegion<D, M>(this.#region, spec, sizes), this.#runs);
  }

  /** Other names for dimensions. */
  rename<const M extends RenameSpec<D>>(names: OnlyKeys<D, M>): ValueMesh<T, Renamed<D, M>> {
    return new ValueMesh(renameRegion<D, M>(this.#region, names), this.#runs);
  }

  /** One dimension in place of all. @throws RangeError if this is a slice that leaves out ranks in between */
  flatten<N extends string>(name: N): ValueMesh<T, N> {
    return new ValueMesh(flattenRegion(this.#region, name), this.#runs);
  }

  /** The values in rank order. */
  values(): Generator<T, void, undefined> {
    return this.#runs.values(baseRanks(this.#region));
  }

  /** Each place with its value, in rank order. */
  *entries(): Generator<[Point<D>, T], void, undefined> {
    const values = this.values();
    for (const point of points(this.#region)) yield [point, values.next().value as T];
  }

  [Symbol.iterator](): Generator<[Point<D>, T], void, undefined> {
    return this.entries();
  }

  /** One line for each rank: its number, its coordinates, its value. */
  toTable(): string {
    const values = this.values();
    return formatRegionTable(this.#region, ["value"], () => [formatTableCell(values.next().value)]);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `ValueMesh ${formatExtent(this.extent)}\n${this.toTable()}`;
  }
}
