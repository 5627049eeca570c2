/**
 * Slices of regions. An index removes a dimension, a range keeps a part of it, and a point selects one rank. A slice of a mesh
 * is the same mesh with another region.
 */

import { describeValue } from "../../shared/text/describe-value.js";
import { checkKnownLabels, formatRegion } from "./check-region.js";
import { type Coordinates, type Extent, formatExtent, sameExtent } from "./extent.js";
import { Point } from "./point.js";
import { Range } from "./range.js";
import { membersOf, type Region, regionExtent } from "./region.js";
import type { Sliced, SliceSpec } from "./reshape-types.js";

/**
 * Returns a part of a region.
 *
 * @throws {TypeError} when a dimension does not exist, a value is neither an index nor a range, or the point has another extent
 * @throws {RangeError} when an index does not exist, or a range is empty or exceeds the dimension
 */
export function sliceRegion<D extends string>(region: Region<D>, point: Point): Region<never>;
export function sliceRegion<D extends string, S extends SliceSpec<D>>(region: Region<D>, spec: S): Region<Sliced<D, S>>;
export function sliceRegion<D extends string>(region: Region<D>, spec: SliceSpec | Point): Region<D>;
export function sliceRegion(region: Region, given: SliceSpec | Point): Region {
  const spec = given instanceof Point ? checkPoint("slice", region, given).coordinates : given;
  checkSpec("slice", region, spec);
  const labels: string[] = [];
  const sizes: number[] = [];
  const strides: number[] = [];
  let offset = region.offset;
  for (const [i, label] of region.labels.entries()) {
    const size = region.sizes[i]!;
    const stride = region.strides[i]!;
    const part = Object.hasOwn(spec, label) ? spec[label] : wholeDimension;
    if (typeof part === "number") {
      offset += checkIndex("slice", region, label, part) * stride;
      continue;
    }
    labels.push(label);
    if (part === wholeDimension) {
      sizes.push(size);
      strides.push(stride);
      continue;
    }
    const { start, step, size: count } = checkRange(region, label, part);
    offset += start * stride;
    sizes.push(count);
    strides.push(stride * step);
  }
  return { labels, sizes, offset, strides, ...membersOf(region) };
}

/**
 * Returns the part of a region that consists of one rank.
 *
 * @throws {TypeError} when the point has another extent, or a dimension is missing, unknown or given a range
 * @throws {RangeError} when an index does not exist
 */
export function singleRankRegion(region: Region, where: Point | Coordinates): Region<never> {
  rankAt(region, where);
  return sliceRegion(region, where as Point);
}

/** Marks a dimension that a slice does not change. */
const wholeDimension = Symbol("whole dimension");

/**
 * Returns the rank of a position in a region.
 *
 * @throws {TypeError} when the point has another extent, or a dimension is missing or unknown
 * @throws {RangeError} when an index does not exist
 */
export function rankAt(region: Region, where: Point | Coordinates): number {
  if (where instanceof Point) return checkPoint("look up", region, where).rank;
  checkSpec("look up", region, where);
  let rank = 0;
  for (const [i, label] of region.labels.entries()) {
    if (!Object.hasOwn(where, label)) {
      throw new TypeError(
        `cannot look up ${label} of ${formatRegion(region)}: expected an index for each dimension, got none`,
      );
    }
    rank = rank * region.sizes[i]! + checkIndex("look up", region, label, where[label]);
  }
  return rank;
}

/** The operation, for error messages. */
type Verb = "slice" | "look up";

function checkPoint(verb: Verb, region: Region, point: Point): Point {
  const extent: Extent = regionExtent(region);
  if (sameExtent(extent, point.extent)) return point;
  throw new TypeError(`cannot ${verb} ${formatExtent(extent)}: expected a point of that extent, got ${point}`);
}

function checkSpec(verb: Verb, region: Region, spec: unknown): asserts spec is object {
  const given = Range.is(spec) ? String(spec) : spec;
  const what = verb === "slice" ? "an index or a range" : "an index";
  checkKnownLabels(region, given, `cannot ${verb} ${formatRegion(region)}`, what);
}

function checkIndex(verb: Verb, region: Region, label: string, index: unknown): number {
  const size = region.sizes[region.labels.indexOf(label)]!;
  if (Number.isInteger(index) && (index as number) >= 0 && (index as number) < size) return index as number;
  const expected = size === 0 ? "no index, the dimension being empty" : `an integer from 0 to ${size - 1}`;
  const message = `cannot ${verb} ${label} of ${formatRegion(region)}: expected ${expected}, got ${describeValue(index)}`;
  throw typeof index === "number" ? new RangeError(message) : new TypeError(message);
}

function checkRange(region: Region, label: string, range: unknown): Range {
  const what = `cannot slice ${label} of ${formatRegion(region)}`;
  if (!Range.is(range)) throw new TypeError(`${what}: expected an index or a range, got ${describeValue(range)}`);
  const size = region.sizes[region.labels.indexOf(label)]!;
  if (range.size > 0 && range.stop <= size) return range;
  const expected = range.size === 0 ? "a range with at least one index" : `a range that ends at ${size} or before`;
  throw new RangeError(`${what}: expected ${expected}, got ${range}`);
}
