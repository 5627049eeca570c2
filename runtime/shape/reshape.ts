/**
 * Other dimensions for the same ranks: split, rename, flatten. None of them changes which ranks there are nor their
 * order.
 */

import { checkDistinct, checkLabels, regionText } from "./check.js";
import { checkDimension, formatExtent, formatValue } from "./extent.js";
import { isDense, type Region, regionSize, rowMajor } from "./region.js";
import type { Renamed, RenameSpec, Split, SplitSpec } from "./types.js";

/**
 * Splits dimensions into several each, outermost first. One new size for each may be left out: it is what remains.
 * @throws TypeError if a name is unknown, unused or there twice, or sizes are missing
 * @throws RangeError if a size is no integer of at least 0, or sizes don't make up the dimension
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
  checkKnown("split", region, spec);
  checkUsed(region, spec, given);
  const labels: string[] = [];
  const sizes: number[] = [];
  const strides: number[] = [];
  for (const [i, label] of region.labels.entries()) {
    const names = Object.hasOwn(spec, label) ? newNames(region, label, spec[label]) : [label];
    const parts = partsOf(region, i, names, given);
    labels.push(...names);
    sizes.push(...parts);
    strides.push(...rowMajor(parts).map((stride) => stride * region.strides[i]!));
  }
  checkDistinct(labels);
  return { labels, sizes, offset: region.offset, strides };
}

/**
 * Gives dimensions other names; all at once, so that two can be swapped.
 * @throws TypeError if a dimension is unknown, or a name is no name or there twice
 */
export function renameRegion<D extends string, const M extends RenameSpec<D>>(
  region: Region<D>,
  names: M,
): Region<Renamed<D, M>>;
export function renameRegion(region: Region, names: RenameSpec): Region {
  checkKnown("rename", region, names);
  const labels = region.labels.map((label) => (Object.hasOwn(names, label) ? (names[label] as string) : label));
  checkDistinct(labels);
  return { ...region, labels };
}

/**
 * One dimension instead of all.
 * @throws TypeError if `name` is no name
 * @throws RangeError if the region leaves ranks out between its first and its last, or has them in another order
 */
export function flattenRegion<N extends string>(region: Region, name: N): Region<N> {
  checkDimension(name);
  if (!isDense(region)) {
    throw new RangeError(
      `cannot flatten ${regionText(region)}: expected ranks without a gap, ` +
        `got strides [${region.strides.join(", ")}] of the mesh it was cut from`,
    );
  }
  return { labels: [name], sizes: [regionSize(region)], offset: region.offset, strides: [1] };
}

function newNames(region: Region, label: string, names: unknown): readonly string[] {
  if (Array.isArray(names) && names.length > 0) {
    for (const name of names) checkDimension(name);
    return names;
  }
  throw new TypeError(
    `cannot split ${label} of ${regionText(region)}: expected a list of new dimensions, got ${
      Array.isArray(names) ? "an empty one" : formatValue(names)
    }`,
  );
}

/** The sizes of the new dimensions of dimension `i`, the one left out inferred. */
function partsOf(
  region: Region,
  i: number,
  names: readonly string[],
  given: { readonly [name: string]: number | undefined },
): number[] {
  const size = region.sizes[i]!;
  const what = `cannot split ${region.labels[i]} of ${regionText(region)}`;
  const unknown = names.filter((name) => sizeGiven(given, name) === undefined);
  if (unknown.length > 1) {
    throw new TypeError(`${what}: expected at most one size to be left out, got none for ${unknown.join(", ")}`);
  }
  const known = names.filter((name) => !unknown.includes(name)).map((name) => [name, sizeGiven(given, name)!] as const);
  for (const [name, part] of known) checkPart(what, name, part);
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

function checkPart(what: string, name: string, part: unknown): void {
  if (Number.isInteger(part) && (part as number) >= 0) return;
  const message = `${what}: expected an integer of at least 0 for ${name}, got ${formatValue(part)}`;
  throw typeof part === "number" ? new RangeError(message) : new TypeError(message);
}

const wanted = { split: "a list of new ones", rename: "a new name" };

function checkKnown(verb: keyof typeof wanted, region: Region, spec: unknown): void {
  checkLabels(region, spec, `cannot ${verb} ${regionText(region)}`, wanted[verb]);
}

function checkUsed(region: Region, spec: SplitSpec, given: object): void {
  const names = new Set(Object.values(spec).flat());
  for (const name of Object.keys(given)) {
    if (names.has(name)) continue;
    throw new TypeError(
      `cannot split ${regionText(region)}: expected sizes of the new dimensions, got one for ${formatValue(name)}`,
    );
  }
}
