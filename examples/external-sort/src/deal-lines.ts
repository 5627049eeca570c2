/** Deals lines to buckets whose lines lie between two splitters. */
import { prefixOf } from "./prefix.js";

const newline = 10;

/**
 * Copies each line to its bucket, in the order of the lines.
 *
 * @param bytes lines that end with a newline
 * @param splitters lines without newlines in ascending order: bucket `i` has the lines below splitter `i`, and the last bucket has
 * those from the last splitter on
 */
export function dealLines(bytes: Buffer, splitters: readonly Uint8Array[]): Uint8Array[] {
  const bucketOf = finder(bytes, splitters);
  const sizes = new Uint32Array(splitters.length + 1);
  // Neighbours in one bucket are copied together, which makes sorted input cheap.
  const ends: number[] = [];
  const bucketOfRun: number[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start) + 1;
    const bucket = bucketOf(start, end - 1);
    sizes[bucket]! += end - start;
    if (bucketOfRun.length > 0 && bucketOfRun[bucketOfRun.length - 1] === bucket) ends[ends.length - 1] = end;
    else {
      ends.push(end);
      bucketOfRun.push(bucket);
    }
    start = end;
  }
  const buckets = Array.from(sizes, (size) => Buffer.allocUnsafeSlow(size));
  const filled = new Uint32Array(buckets.length);
  for (const [i, bucket] of bucketOfRun.entries()) {
    filled[bucket]! += bytes.copy(buckets[bucket]!, filled[bucket], i === 0 ? 0 : ends[i - 1], ends[i]);
  }
  return buckets;
}

/** Returns the function that finds the bucket of a line: a binary search among the splitters. */
function finder(bytes: Buffer, splitters: readonly Uint8Array[]): (start: number, end: number) => number {
  const prefixes = Float64Array.from(splitters, (splitter) => prefixOf(splitter, 0, splitter.length));
  return (start, end) => {
    const prefix = prefixOf(bytes, start, end);
    let [low, high] = [0, splitters.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isBelow =
        prefix < prefixes[middle]! ||
        (prefix === prefixes[middle] && bytes.compare(splitters[middle]!, undefined, undefined, start, end) < 0);
      if (isBelow) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
