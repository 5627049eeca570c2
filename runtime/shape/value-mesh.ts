/**
 * Value meshes: the answers of a mesh, one for each rank. Neighbouring ranks with equal bytes share one run and its decoded
 * value, so that 10,000 equal answers take the memory of one. A slice shares the runs of its origin.
 */
import { type Coordinates, type Extent, formatExtent } from "./extent.js";
import { type Point, points } from "./point.js";
import { baseRank, baseRanks, detachedRegion, type Region, regionExtent, regionSize, wholeRegion } from "./region.js";
import { meshOfRegion, meshRegion, type RegionMeshKind, ReshapableMesh } from "./region-mesh.js";
import { formatRegionTable, formatTableCell } from "./region-table.js";
import type { PointFor } from "./reshape-types.js";
import { joinEqualNeighbours, RunLengthSequence, type ValueRun } from "./run-length.js";
import { rankAt } from "./slice.js";

/** Maps the names of dimensions to types of meshes of values. */
interface ValueMeshKind<T> extends RegionMeshKind {
  readonly mesh: ValueMesh<T, this["dims"]>;
}

/**
 * The answers of a mesh, one value for each rank. It is immutable and has the shape of the mesh that was called.
 * Neighbouring ranks with equal answers share one stored value.
 *
 * @example
 * ```ts
 * import { ValueMesh } from "viceroy";
 *
 * const losses = ValueMesh.of({ hosts: 2, gpus: 2 }, [0.5, 0.25, 0.5, 0.75]);
 * losses.at({ hosts: 1, gpus: 0 }); // 0.5
 * [...losses.slice({ hosts: 0 }).values()]; // [0.5, 0.25]
 * ```
 */
export class ValueMesh<T, D extends string = string>
  extends ReshapableMesh<ValueMeshKind<T>, D>
  implements Iterable<[Point<D>, T]>
{
  /** The size of each dimension, in the order of the dimensions. */
  readonly extent: Extent<D>;
  /** The number of ranks. */
  readonly size: number;
  /** Maps the ranks to indices of the runs. */
  readonly #region: Region<D>;
  readonly #runs: RunLengthSequence<T>;

  /** Use `ValueMesh.of` or `ValueMesh.fromRuns`. */
  private constructor(region: Region<D>, runs: RunLengthSequence<T>, extent = regionExtent(region)) {
    super();
    this.extent = extent;
    this.size = regionSize(region);
    this.#region = region;
    this.#runs = runs;
  }

  /**
   * Makes a mesh of values.
   *
   * @param extent the size of each dimension
   * @param values one for each rank, in rank order
   * @throws {RangeError} when the number of values differs from the number of ranks
   */
  static of<T, D extends string>(extent: Extent<D>, values: Iterable<T>): ValueMesh<T, D> {
    const region = wholeRegion(extent);
    return ValueMesh.inRegion(region, regionExtent(region), values);
  }

  /**
   * Makes a mesh of values like `of`, without checking the extent.
   *
   * @hidden
   */
  static inRegion<T, D extends string>(region: Region<D>, extent: Extent<D>, values: Iterable<T>): ValueMesh<T, D> {
    return ValueMesh.#whole(region, new RunLengthSequence<T>(joinEqualNeighbours(values), undefined), extent);
  }

  /**
   * Makes a mesh of encoded values, which are decoded when they are read.
   *
   * @hidden
   * @param runs in rank order
   * @param decode called at most once for each run; its error is thrown where the value is read
   * @throws {RangeError} when the lengths of the runs do not add up to the size of the region
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
   * Returns the value at a position.
   *
   * @param point a {@link Point} of a mesh with the same extent
   * @throws {TypeError} when the point belongs to another extent
   */
  at<P extends string>(point: PointFor<D, P>): T;
  /**
   * Returns the value at a position.
   *
   * @param coordinates an index for each dimension
   * @throws {TypeError} when a dimension is missing or unknown
   * @throws {RangeError} when an index is outside its dimension
   */
  at(coordinates: Coordinates<D>): T;
  at(where: Point | Coordinates): T {
    return this.#runs.at(baseRank(this.#region, rankAt(this.#region, where)));
  }

  /** Yields the values in rank order. */
  values(): Generator<T, void, undefined> {
    return this.#runs.values(baseRanks(this.#region));
  }

  /** Yields the position and the value of each rank, in rank order. */
  *entries(): Generator<[Point<D>, T], void, undefined> {
    const values = this.values();
    for (const point of points(this.#region)) yield [point, values.next().value as T];
  }

  /** Yields the position and the value of each rank, in rank order. */
  [Symbol.iterator](): Generator<[Point<D>, T], void, undefined> {
    return this.entries();
  }

  /** Returns a table as text, with one line for each rank: its number, its coordinates, its value. */
  toTable(): string {
    const values = this.values();
    return formatRegionTable(this.#region, ["value"], () => [formatTableCell(values.next().value)]);
  }

  /** @hidden */
  protected get [meshRegion](): Region<D> {
    return this.#region;
  }

  /** @hidden */
  protected [meshOfRegion](region: Region): ValueMesh<T> {
    return new ValueMesh<T>(region, this.#runs);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `ValueMesh ${formatExtent(this.extent)}\n${this.toTable()}`;
  }
}
