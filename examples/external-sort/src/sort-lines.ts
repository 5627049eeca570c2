/** Sorts lines by their bytes, as `LC_ALL=C sort` does. */

const newline = 10;
/** The size of a slice of the output in bytes. */
const sliceBytes = 4 * 1024 * 1024;

/** Lines in their order. */
export interface SortedLines {
  readonly parts: readonly Buffer[];
  /** The part of each line, and its first byte and the byte after its last one in the part, in the order of the input. */
  readonly partOf: Uint16Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** The numbers of the lines, sorted. */
  readonly order: Uint32Array;
}

/** @param given lines that end with newlines, 65,536 parts at most */
export function sortLines(given: readonly Uint8Array[]): SortedLines {
  const parts = given.map(({ buffer, byteOffset, length }) => Buffer.from(buffer, byteOffset, length));
  const count = parts.reduce((sum, part) => sum + linesIn(part), 0);
  const partOf = new Uint16Array(count);
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  let line = 0;
  for (const [number, part] of parts.entries()) {
    for (let start = 0; start < part.length; line++) {
      partOf[line] = number;
      starts[line] = start;
      start = part.indexOf(newline, start) + 1;
      ends[line] = start;
    }
  }
  const order = sortedOrder({ parts, partOf, starts, ends });
  return { parts, partOf, starts, ends, order };
}

function linesIn(part: Buffer): number {
  let lines = 0;
  for (let at = 0; at < part.length; at = part.indexOf(newline, at) + 1) lines++;
  return lines;
}

/**
 * Returns the numbers of the lines, sorted. The system sorts 64-bit numbers much faster than a function can compare lines, so each line
 * becomes a number: as many of its bits as fit, after the bytes with which all lines begin, and its own number. Lines with the same bits
 * are then compared whole.
 */
function sortedOrder(lines: Omit<SortedLines, "order">): Uint32Array {
  const { parts, partOf, starts, ends } = lines;
  const count = starts.length;
  const skipped = commonPrefix(lines);
  const numberBits = Math.max(1, 32 - Math.clz32(count));
  const numberMask = 2 ** numberBits - 1;
  const keys = new BigUint64Array(count);
  // The second word is the more significant one on little-endian processors, which are all except s390x.
  const words = new Uint32Array(keys.buffer);
  for (let line = 0; line < count; line++) {
    const part = parts[partOf[line]!]!;
    const [start, end] = [starts[line]!, ends[line]! - 1];
    words[2 * line + 1] = wordAt(part, start + skipped, end);
    words[2 * line] = ((wordAt(part, start + skipped + 4, end) & ~numberMask) | line) >>> 0;
  }
  keys.sort();
  const order = new Uint32Array(count);
  const sameFrom = (i: number, j: number) =>
    words[2 * i + 1] === words[2 * j + 1] && (words[2 * i]! & ~numberMask) === (words[2 * j]! & ~numberMask);
  for (let i = 0; i < count; i++) order[i] = words[2 * i]! & numberMask;
  for (let from = 0, to = 1; to <= count; to++) {
    if (to < count && sameFrom(from, to)) continue;
    if (to - from > 1) order.subarray(from, to).sort((left, right) => compare(lines, left, right));
    from = to;
  }
  return order;
}

/** Returns the number of bytes with which all lines begin. */
function commonPrefix({ parts, partOf, starts, ends }: Omit<SortedLines, "order">): number {
  if (starts.length === 0) return 0;
  const first = parts[partOf[0]!]!.subarray(starts[0]!, ends[0]! - 1);
  let common = first.length;
  for (let line = 1; line < starts.length && common > 0; line++) {
    const part = parts[partOf[line]!]!;
    const start = starts[line]!;
    common = Math.min(common, ends[line]! - 1 - start);
    let same = 0;
    while (same < common && part[start + same] === first[same]) same++;
    common = same;
  }
  return common;
}

/** Returns four bytes of a line as a number. What is after its end counts as zeros. */
function wordAt(bytes: Buffer, start: number, end: number): number {
  if (start + 4 <= end) {
    return ((bytes[start]! << 24) | (bytes[start + 1]! << 16) | (bytes[start + 2]! << 8) | bytes[start + 3]!) >>> 0;
  }
  let word = 0;
  for (let i = start; i < start + 4; i++) word = (word << 8) | (i < end ? bytes[i]! : 0);
  return word >>> 0;
}

function compare({ parts, partOf, starts, ends }: Omit<SortedLines, "order">, left: number, right: number): number {
  const [one, other] = [parts[partOf[left]!]!, parts[partOf[right]!]!];
  return one.compare(other, starts[right], ends[right]! - 1, starts[left], ends[left]! - 1);
}

/** Yields the bytes of sorted lines in slices. A slice is overwritten when the slice after the next one is asked for. */
export function* slicesOf({ parts, partOf, starts, ends, order }: SortedLines): Generator<Uint8Array> {
  const buffers = [Buffer.allocUnsafeSlow(sliceBytes), Buffer.allocUnsafeSlow(sliceBytes)];
  let filled = 0;
  for (const line of order) {
    const part = parts[partOf[line]!]!;
    let start = starts[line]!;
    const end = ends[line]!;
    for (;;) {
      const copied = part.copy(buffers[0]!, filled, start, end);
      start += copied;
      filled += copied;
      if (start === end) break;
      yield buffers[0]!;
      buffers.reverse();
      filled = 0;
    }
  }
  if (filled > 0) yield buffers[0]!.subarray(0, filled);
}
