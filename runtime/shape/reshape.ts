/**
 * Changes the dimensions of regions: split, rename and flatten. The ranks and their order stay.
 */

import { describeValue } from "../../shared/text/describe-value.js";
import { checkDistinctLabels, checkKnownLabels, formatRegion } from "./check-region.js";
import { checkDimension, formatExtent } from "./extent.js";
import { isDense, membersOf, type Region, regionSize, rowMajorStrides } from "./region.js";
import type { Renamed, RenameSpec, Split, SplitSpec } from "./reshape-types.js";

/**
 * Replaces dimensions by several dimensions each, outermost first. One size of each split can be left out and is computed.
 *
 * @throws {TypeError} when a name is unknown, unused or used twice, or sizes are missing
 * @throws {RangeError} when a size is not an integer from 0, or the sizes do not multiply to that of the dimension
 */
export function splitRegion<D extends string, const M extends SplitSpec<D>>(
  region: Region<D>,
  spec: M,
  sizes?: { readonly [name: string]: number | undefined },
): Region<Split<D, M>>;
export function splitRegion(
  region: Region,
  spec: SplitSpec,
  given: { readonly [name: string]: number | undefined } = {},
): Region {
  checkSpecLabels("split", region, spec);
  checkSizesUsed(region, spec, given);
  const labels: string[] = [];
  const sizes: number[] = [];
  const strides: number[] = [];
  for (const [i, label] of region.labels.entries()) {
    const names = Object.hasOwn(spec, label) ? newNames(region, label, spec[label]) : [label];
    const parts = sizesOfSplit(region, i, names, given);
    labels.push(...names);
    sizes.push(...parts);
    strides.push(...rowMajorStrides(parts).map((stride) => stride * region.strides[i]!));
  }
  checkDistinctLabels(labels);
  return { labels, sizes, offset: region.offset, strides, ...membersOf(region) };
}

/**
 * Renames dimensions, all at once, so that two names can be swapped.
 *
 * @throws {TypeError} when a dimension is unknown, or a name is invalid or used twice
 */
export function renameRegion<D extends string, const M extends RenameSpec<D>>(
  region: Region<D>,
  names: M,
): Region<Renamed<D, M>>;
export function renameRegion(region: Region, names: RenameSpec): Region {
  checkSpecLabels("rename", region, names);
  const labels = region.labels.map((label) => (Object.hasOwn(names, label) ? (names[label] as string) : label));
  checkDistinctLabels(labels);
  return { ...region, labels };
}

/**
 * Replaces all dimensions by one.
 *
 * @throws {TypeError} when `name` is invalid
 * @throws {RangeError} when the region leaves out ranks between its first and its last one, or changes their order
 */
export function flattenRegion<N extends string>(region: Region, name: N): Region<N> {
  checkDimension(name);
  if (!isDense(region)) {
    throw new RangeError(
      `cannot flatten ${formatRegion(region)}: expected ranks without a gap, ` +
        `got strides [${region.strides.join(", ")}] of the mesh it was cut from`,
    );
  }
  return { labels: [name], sizes: [regionSize(region)], offset: region.offset, strides: [1], ...membersOf(region) };
}

function newNames(region: Region, label: string, names: unknown): readonly string[] {
  if (Array.isArray(names) && names.length > 0) {
    for (const name of names) checkDimension(name);
    return names;
  }
  throw new TypeError(
    `cannot split ${label} of ${formatRegion(region)}: expected a list of new dimensions, got ${
      Array.isArray(names) ? "an empty one" : describeValue(names)
    }`,
  );
}

/** Returns the sizes of the new dimensions of dimension `i`. Computes a size that was left out. */
function sizesOfSplit(
  region: Region,
  i: number,
  names: readonly string[],
  given: { readonly [name: string]: number | undefined },
): number[] {
  const size = region.sizes[i]!;
  const what = `cannot split ${region.labels[i]} of ${formatRegion(region)}`;
  const unknown = names.filter((name) => sizeGiven(given, name) === undefined);
  if (unknown.length > 1) {
    throw new TypeError(`${what}: expected at most one size to be left out, got none for ${unknown.join(", ")}`);
  }
  const known = names.filter((name) => !unknown.includes(name)).map((name) => [name, sizeGiven(given, name)!] as const);
  for (const [name, part] of known) checkSplitSize(what, name, part);
  const product = known.reduce((sofar, [, part]) => sofar * part, 1);
  const fits = unknown.length === 0 ? product === size : product > 0 && size % product === 0;
  if (!fits) {
    const expected = unknown.length === 0 ? `sizes that make ${size} together` : `sizes that divide ${size}`;
    throw new RangeError(`${what}: expected ${expected}, got ${formatExtent(Object.fromEntries(known))}`);
  }
  return names.map((name) => sizeGiven(given, name) ?? size / product);
}

function sizeGiven(given: { readonly [name: string]: number | undefined }, name: string): number | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function checkSplitSize(what: string, name: string, part: unknown): void {
  if (Number.isInteger(part) && (part as number) >= 0) return;
  const message = `${what}: expected an integer of at least 0 for ${name}, got ${describeValue(part)}`;
  throw typeof part === "number" ? new RangeError(message) : new TypeError(message);
}

const expectedValue = { split: "a list of new ones", rename: "a new name" };

function checkSpecLabels(verb: keyof typeof expectedValue, region: Region, spec: unknown): void {
  checkKnownLabels(region, spec, `cannot ${verb} ${formatRegion(region)}`, expectedValue[verb]);
}

function checkSizesUsed(region: Region, spec: SplitSpec, given: object): void {
  const names = new Set(Object.values(spec).flat());
  for (const name of Object.keys(given)) {
    if (names.has(name)) continue;
    throw new TypeError(
      `cannot split ${formatRegion(region)}: expected sizes of the new dimensions, got one for ${describeValue(name)}`,
    );
  }
}
