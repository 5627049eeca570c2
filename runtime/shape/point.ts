/**
 * A point: one rank of an extent, with its coordinates. It knows nothing of the mesh it came from: a point of one mesh
 * is a place in every other mesh of the same extent.
 */
import { type Coordinates, type Extent, extentSize, makeExtent } from "./extent.js";
import { type Region, regionExtent, regionSize } from "./region.js";

export class Point<D extends string = string> {
  /** From 0, in the order in which a mesh is iterated: the last dimension counts fastest. */
  readonly rank: number;
  readonly extent: Extent<D>;
  #coordinates: Coordinates<D> | undefined;

  /** @throws RangeError if the extent has no such rank */
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

  /** The index in each dimension, in order. */
  get coordinates(): Coordinates<D> {
    this.#coordinates ??= coordinatesOf(this.extent, this.rank);
    return this.#coordinates;
  }

  /** Index and size of each dimension: `{'hosts': 0/1, 'gpus': 1/2}`. */
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

/** All points of a region, in rank order. */
export function* points<D extends string>(region: Region<D>): Generator<Point<D>, void, undefined> {
  const extent = regionExtent(region);
  const size = regionSize(region);
  for (let rank = 0; rank < size; rank++) yield new Point(extent, rank);
}
