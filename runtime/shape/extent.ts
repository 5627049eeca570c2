/**
 * The extent of a mesh: an immutable object with the size of each dimension, in order. A region (region.ts) maps the ranks of
 * a slice to those of the whole mesh.
 */

import { describeValue } from "../../shared/text/describe-value.js";

/**
 * The size of each dimension of a mesh, in the order of the dimensions: `{ hosts: 2, gpus: 4 }`. Ranks count the last
 * dimension fastest.
 */
export type Extent<D extends string = string> = { readonly [K in D]: number };

/** An index for each dimension of a mesh: `{ hosts: 0, gpus: 3 }`. */
export type Coordinates<D extends string = string> = { readonly [K in D]: number };

/** The largest number of ranks of a mesh. */
export const maxRanks = 2 ** 32;

const dimensionName = /^[A-Za-z_]\w*$/;

/** Checks the name of a dimension. @throws {TypeError} when it is invalid */
export function checkDimension(name: unknown): asserts name is string {
  if (typeof name === "string" && dimensionName.test(name)) return;
  throw new TypeError(
    `cannot name a dimension: expected letters, digits and underscores, no digit first, got ${describeValue(name)}`,
  );
}

/**
 * Checks and copies an extent that a user passed.
 *
 * @throws {TypeError} when it is not an object, a name is invalid, or a size is not a number
 * @throws {RangeError} when a size is not an integer from 0, or the extent has more than 2^32 ranks
 */
export function checkExtent<D extends string>(extent: Extent<D>): Extent<D> {
  if (typeof extent !== "object" || extent === null || Array.isArray(extent)) {
    throw new TypeError(`cannot make a mesh: expected an extent like { gpus: 4 }, got ${describeValue(extent)}`);
  }
  const entries = Object.entries<number>(extent);
  for (const [name, size] of entries) {
    checkDimension(name);
    checkSize(name, size);
  }
  checkRankCount(entries);
  return makeExtent(entries as [D, number][]);
}

function checkSize(name: string, size: unknown): void {
  if (Number.isInteger(size) && (size as number) >= 0) return;
  const message = `cannot make a mesh: expected an integer of at least 0 for ${name}, got ${describeValue(size)}`;
  throw typeof size === "number" ? new RangeError(message) : new TypeError(message);
}

/** Checks the number of ranks. An empty dimension counts as 1, so that the strides of the other dimensions are exact, too. */
function checkRankCount(entries: readonly (readonly [string, number])[]): void {
  let ranks = 1;
  for (const [, size] of entries) ranks *= Math.max(size, 1);
  if (ranks <= maxRanks) return;
  throw new RangeError(
    `cannot make a mesh: expected at most 4294967296 ranks, got ${formatExtent(Object.fromEntries(entries))}`,
  );
}

/** Makes a frozen extent. `__proto__` and `constructor` are ordinary names of dimensions. */
export function makeExtent<D extends string>(entries: Iterable<readonly [D, number]>): Extent<D> {
  return Object.freeze(Object.fromEntries(entries)) as Extent<D>;
}

/**
 * Returns the extent with the dimensions of both, the outer ones first.
 *
 * @throws {TypeError} when both have a dimension of the same name
 * @throws {RangeError} when the result has more than 2^32 ranks
 */
export function joinExtents<A extends string, B extends string>(outer: Extent<A>, inner: Extent<B>): Extent<A | B> {
  for (const name of Object.keys(checkExtent(inner))) {
    if (!Object.hasOwn(outer, name)) continue;
    throw new TypeError(
      `cannot join ${formatExtent(outer)} and ${formatExtent(inner)}: expected distinct dimensions, got ${name} twice`,
    );
  }
  const entries = [...Object.entries<number>(outer), ...Object.entries<number>(inner)];
  return checkExtent(makeExtent(entries as [A | B, number][]));
}

/** Returns the number of ranks of an extent: 1 for `{}`. */
export function extentSize(extent: Extent): number {
  let size = 1;
  for (const name of Object.keys(extent)) size *= extent[name] as number;
  return size;
}

/** Returns whether two extents have the same dimensions and sizes in the same order. */
export function sameExtent(a: Extent, b: Extent): boolean {
  const names = Object.keys(a);
  const others = Object.keys(b);
  return names.length === others.length && names.every((name, i) => name === others[i] && a[name] === b[name]);
}

/** Formats an extent like a point: `{'hosts': 1, 'gpus': 2}`. */
export function formatExtent(extent: Extent): string {
  return `{${Object.entries(extent)
    .map(([name, size]) => `'${name}': ${size}`)
    .join(", ")}}`;
}
