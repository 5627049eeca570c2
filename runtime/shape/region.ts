/**
 * Regions: the ranks of a slice of a mesh. Ranks of a region count from 0, the last dimension fastest; base ranks are those of
 * the mesh as it was spawned. A region is plain data, which every reference to a mesh contains. slice.ts and reshape.ts make
 * regions of other ones.
 */
import { checkExtent, type Extent, makeExtent } from "./extent.js";

/**
 * `position = offset + sum of index[i] * strides[i]`. The three lists have one entry for each dimension. The base rank of a
 * position is the position itself, unless the region has `members`.
 */
export interface Region<D extends string = string> {
  readonly labels: readonly D[];
  readonly sizes: readonly number[];
  readonly offset: number;
  readonly strides: readonly number[];
  /**
   * The base rank of each position, for a mesh that was resized: its ranks are not a row-major part of the mesh that was
   * spawned. Absent: positions are base ranks.
   */
  readonly members?: readonly number[];
}

/**
 * Returns the region of a whole mesh.
 *
 * @throws {TypeError | RangeError} when the extent is invalid, like `checkExtent`
 */
export function wholeRegion<D extends string>(extent: Extent<D>): Region<D> {
  const checked = checkExtent(extent);
  const labels = Object.keys(checked) as D[];
  const sizes = labels.map((label) => checked[label]);
  return { labels, sizes, offset: 0, strides: rowMajorStrides(sizes) };
}

/** Returns the strides of row-major order: the last dimension counts fastest. An empty dimension counts as one rank. */
export function rowMajorStrides(sizes: readonly number[]): number[] {
  const strides = sizes.map(() => 1);
  for (let i = sizes.length - 2; i >= 0; i--) strides[i] = strides[i + 1]! * Math.max(sizes[i + 1]!, 1);
  return strides;
}

export function regionExtent<D extends string>(region: Region<D>): Extent<D> {
  return makeExtent(region.labels.map((label, i) => [label, region.sizes[i]!] as const));
}

/** Returns the members of a region as a property to copy into a region that is cut from it. */
export function membersOf({ members }: Region): Pick<Region, "members"> {
  return members === undefined ? {} : { members };
}

/** Returns a region of the same shape whose base ranks are its ranks. */
export function detachedRegion<D extends string>({ labels, sizes }: Region<D>): Region<D> {
  return { labels, sizes, offset: 0, strides: rowMajorStrides(sizes) };
}

/** Returns the number of ranks: 1 for a region without dimensions. */
export function regionSize(region: Region): number {
  let size = 1;
  for (const each of region.sizes) size *= each;
  return size;
}

/** Returns the base rank of a rank. @param rank from 0 to the size of the region - 1 */
export function baseRank(region: Region, rank: number): number {
  const { sizes, strides } = region;
  let base = region.offset;
  let rest = rank;
  for (let i = sizes.length - 1; i >= 0; i--) {
    const size = sizes[i]!;
    base += (rest % size) * strides[i]!;
    rest = Math.floor(rest / size);
  }
  return memberAt(region, base);
}

function memberAt({ members }: Region, position: number): number {
  return members === undefined ? position : members[position]!;
}

/** Yields all base ranks of the region, in rank order. */
export function* baseRanks(region: Region): Generator<number, void, undefined> {
  const { sizes, strides } = region;
  const index = new Array<number>(sizes.length).fill(0);
  let base = region.offset;
  for (let left = regionSize(region); left > 0; left--) {
    yield memberAt(region, base);
    for (let i = sizes.length - 1; i >= 0; i--) {
      base += strides[i]!;
      if (++index[i]! < sizes[i]!) break;
      base -= sizes[i]! * strides[i]!;
      index[i] = 0;
    }
  }
}

/** Returns the rank of a base rank in the region, or undefined if the region does not contain it. */
export function rankOfBaseRank(region: Region, base: number): number | undefined {
  const { sizes, strides } = region;
  const outermostFirst = [...strides.keys()].sort((a, b) => strides[b]! - strides[a]!);
  const own = rowMajorStrides(sizes);
  const position = region.members === undefined ? base : region.members.indexOf(base);
  let rest = position - region.offset;
  let rank = 0;
  if (position < 0 || rest < 0 || regionSize(region) === 0) return undefined;
  for (const i of outermostFirst) {
    // A stride exceeds the span of all inner dimensions, since regions are slices of row-major ones.
    const at = Math.min(Math.floor(rest / strides[i]!), sizes[i]! - 1);
    rest -= at * strides[i]!;
    rank += at * own[i]!;
  }
  return rest === 0 ? rank : undefined;
}

/** Returns whether the positions are consecutive, in rank order. */
export function isDense(region: Region): boolean {
  if (regionSize(region) === 0) return true;
  let stride = 1;
  for (let i = region.sizes.length - 1; i >= 0; i--) {
    const size = region.sizes[i]!;
    if (size === 1) continue;
    if (region.strides[i] !== stride) return false;
    stride *= size;
  }
  return true;
}

export function sameRegion(a: Region, b: Region): boolean {
  return (
    a === b ||
    (a.offset === b.offset &&
      sameList(a.labels, b.labels) &&
      sameList(a.sizes, b.sizes) &&
      sameList(a.strides, b.strides) &&
      sameMembers(a.members, b.members))
  );
}

function sameMembers(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameList(a, b));
}

function sameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
