/** Checks regions that were received from other processes, and records that users pass to methods of meshes. */
import { describeValue } from "../../shared/text/describe-value.js";
import { checkDimension, checkExtent, formatExtent, maxRanks } from "./extent.js";
import { type Region, regionExtent, regionSize } from "./region.js";

/**
 * Checks a received region. Every position of a valid one is below `ranks`, and no two positions have the same base rank.
 *
 * @param ranks number of ranks of the whole mesh, or of the members of the region
 * @throws {TypeError | RangeError} when the region is invalid
 */
export function checkRegion(region: Region, ranks: number): void {
  const { labels, sizes, strides, offset } = region;
  if (sizes.length !== labels.length || strides.length !== labels.length) {
    throw new RangeError(
      `cannot use a region: expected a size and a stride for each of ${labels.length} dimensions, ` +
        `got ${sizes.length} and ${strides.length}`,
    );
  }
  checkDistinctLabels(labels);
  checkExtent(regionExtent(region));
  const size = regionSize(region);
  let last = offset;
  for (const [i, each] of sizes.entries()) last += Math.max(each - 1, 0) * strides[i]!;
  const sane = (number: number, least: number) => Number.isInteger(number) && number >= least && number <= maxRanks;
  const inside = size === 0 || (last < ranks && size <= ranks);
  if (inside && sane(offset, 0) && strides.every((stride) => sane(stride, 1))) {
    checkDistinctMembers(region);
    return;
  }
  throw new RangeError(
    `cannot use a region: expected base ranks below ${ranks}, got offset ${offset} and strides [${strides.join(", ")}]`,
  );
}

function checkDistinctMembers({ members = [] }: Region): void {
  const seen = new Set<number>();
  for (const member of members) {
    if (seen.has(member)) throw new RangeError(`cannot use a region: expected distinct members, got ${member} twice`);
    seen.add(member);
  }
}

/** Checks names of dimensions. @throws {TypeError} when a name is invalid or occurs twice */
export function checkDistinctLabels(labels: readonly string[]): void {
  const seen = new Set<string>();
  for (const label of labels) {
    checkDimension(label);
    if (seen.has(label)) {
      throw new TypeError(`cannot name a dimension: expected distinct names, got ${label} twice`);
    }
    seen.add(label);
  }
}

/**
 * Checks that all keys of a record are dimensions of the region.
 *
 * @param failed the start of the error message: `cannot slice {'gpus': 4}`
 * @param wanted the values that the record contains, for the error message
 * @throws {TypeError} when it is not an object, or has another key
 */
export function checkKnownLabels(
  region: Region,
  given: unknown,
  failed: string,
  wanted: string,
): asserts given is object {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`${failed}: expected dimensions, each with ${wanted}, got ${describeValue(given)}`);
  }
  for (const name of Object.keys(given)) {
    if (region.labels.includes(name)) continue;
    throw new TypeError(`${failed}: expected ${listLabels(region.labels)}, got dimension ${describeValue(name)}`);
  }
}

function listLabels(labels: readonly string[]): string {
  if (labels.length === 0) return "no dimension";
  return labels.length === 1 ? `the dimension ${labels[0]}` : `one of the dimensions ${labels.join(", ")}`;
}

/** Formats the extent of a region for an error message. */
export function formatRegion(region: Region): string {
  return formatExtent(regionExtent(region));
}
