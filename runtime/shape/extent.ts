/**
 * The extent of a mesh: its dimensions in order, each with its size, as a plain readonly record. What a user writes and
 * reads. Where the ranks of a mesh lie in the mesh it was cut from is a region's business (region.ts).
 */

import { describeValue } from "../../shared/text/describe-value.js";

/**
 * The size of each dimension of a mesh, in the order of the dimensions: `{ hosts: 2, gpus: 4 }`. Ranks count the last
 * dimension fastest.
 */
export type Extent<D extends string = string> = { readonly [K in D]: number };

/** An index for each dimension of a mesh: `{ hosts: 0, gpus: 3 }`. */
export type Coordinates<D extends string = string> = { readonly [K in D]: number };

/** A mesh has at most so many ranks. */
export const maxRanks = 2 ** 32;

const dimensionName = /^[A-Za-z_]\w*$/;

/** @throws TypeError if `name` cannot name a dimension */
export function checkDimension(name: unknown): asserts name is string {
  if (typeof name === "string" && dimensionName.test(name)) return;
  throw new TypeError(
    `cannot name a dimension: expected letters, digits and underscores, no digit first, got ${describeValue(name)}`,
  );
}

/**
 * Checks what a user gave as an extent and copies it.
 * @throws TypeError if it is no record, a dimension has no proper name or its size is no number
 * @throws RangeError if a size is no integer of at least 0, or there would be more than 2^32 ranks
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

/** An empty dimension counts as one rank here, so that the strides of the others stay exact as well. */
function checkRankCount(entries: readonly (readonly [string, number])[]): void {
  let ranks = 1;
  for (const [, size] of entries) ranks *= Math.max(size, 1);
  if (ranks <= maxRanks) return;
  throw new RangeError(
    `cannot make a mesh: expected at most 4294967296 ranks, got ${formatExtent(Object.fromEntries(entries))}`,
  );
}

/** A frozen extent; a dimension may have any name that is allowed, `__proto__` and `constructor` too. */
export function makeExtent<D extends string>(entries: Iterable<readonly [D, number]>): Extent<D> {
  return Object.freeze(Object.fromEntries(entries)) as Extent<D>;
}

/**
 * The extent of `outer` places that hold an `inner` extent each: the dimensions of both, outer ones first.
 * @throws TypeError if both have a dimension of the same name, and what `checkExtent` throws
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

/** The number of ranks of an extent: 1 for `{}`. */
export function extentSize(extent: Extent): number {
  let size = 1;
  for (const name of Object.keys(extent)) size *= extent[name] as number;
  return size;
}

/** Whether both have the same dimensions of the same sizes in the same order. */
export function sameExtent(a: Extent, b: Extent): boolean {
  const names = Object.keys(a);
  const others = Object.keys(b);
  return names.length === others.length && names.every((name, i) => name === others[i] && a[name] === b[name]);
}

/** `{'hosts': 1, 'gpus': 2}`, in the manner of points. */
export function formatExtent(extent: Extent): string {
  return `{${Object.entries(extent)
    .map(([name, size]) => `'${name}': ${size}`)
    .join(", ")}}`;
}
