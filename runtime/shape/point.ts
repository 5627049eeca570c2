/**
 * Points: a rank of an extent with its coordinates. A point of one mesh can be used with every mesh of the same extent.
 */
import { type Coordinates, type Extent, extentSize, makeExtent } from "./extent.js";
import { type Region, regionExtent, regionSize } from "./region.js";

/**
 * One position in an extent: a rank with its coordinates. A point belongs to no mesh: it can be used with every mesh of
 * the same extent. It prints as `{'hosts': 0/1, 'gpus': 1/2}`.
 */
export class Point<D extends string = string> {
  /** The rank, from 0, in the order in which a mesh is iterated: the last dimension counts fastest. */
  readonly rank: number;
  /** The extent that the point is a position in. */
  readonly extent: Extent<D>;
  #coordinates: Coordinates<D> | undefined;

  /**
   * Makes a point.
   *
   * @param extent the sizes of the dimensions
   * @param rank an integer from 0 to the number of ranks of the extent minus 1
   * @throws {RangeError} when the extent does not have the rank
   */
  constructor(extent: Extent<D>, rank: number) {
    if (!Number.isInteger(rank) || rank < 0 || rank >= extentSize(extent)) {
      throw new RangeError(
        `cannot make a point: expected a rank from 0 to ${extentSize(extent) - 1}, got ${String(rank)}`,
      );
    }
    this.extent = extent;
    this.rank = rank;
  }

  /** The names of the dimensions, in order. */
  get dimensions(): readonly D[] {
    return Object.keys(this.extent) as D[];
  }

  /** The index in each dimension, in the order of the dimensions. */
  get coordinates(): Coordinates<D> {
    this.#coordinates ??= coordinatesOf(this.extent, this.rank);
    return this.#coordinates;
  }

  /** Returns index and size of each dimension as text: `{'hosts': 0/1, 'gpus': 1/2}`. */
  toString(): string {
    const { coordinates, extent } = this;
    return `{${this.dimensions.map((name) => `'${name}': ${coordinates[name]}/${extent[name]}`).join(", ")}}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Point ${this.toString()}`;
  }
}

function coordinatesOf<D extends string>(extent: Extent<D>, rank: number): Coordinates<D> {
  const entries: [D, number][] = [];
  let rest = rank;
  for (const name of (Object.keys(extent) as D[]).reverse()) {
    const size = extent[name];
    entries.push([name, rest % size]);
    rest = Math.floor(rest / size);
  }
  return makeExtent(entries.reverse());
}

/** Yields all points of a region, in rank order. */
export function* points<D extends string>(region: Region<D>): Generator<Point<D>, void, undefined> {
  const extent = regionExtent(region);
  const size = regionSize(region);
  for (let rank = 0; rank < size; rank++) yield new Point(extent, rank);
}
