/** Runs of consecutive ranks, a compact form for the receivers of a cast and the ranks with equal answers. */
import { readU32, writeU32 } from "../../link/frame/control-body.js";
import { ProtocolError } from "../../link/frame/frame.js";
import type { Reader } from "../../wire/reader.js";
import type { Writer } from "../../wire/writer.js";

/** `count` consecutive ranks. */
export interface RankRun {
  readonly start: number;
  readonly count: number;
}

/** Appends a run. It is merged with the last run if it follows that run directly. */
export function appendRun(runs: RankRun[], { start, count }: RankRun): void {
  const last = runs.at(-1);
  if (last !== undefined && last.start + last.count === start) {
    runs[runs.length - 1] = { start: last.start, count: last.count + count };
  } else runs.push({ start, count });
}

/** Returns the same ranks in ascending order, in as few runs as possible. */
export function mergeRuns(runs: readonly RankRun[]): RankRun[] {
  const found: { start: number; count: number }[] = [];
  for (const { start, count } of [...runs].sort((a, b) => a.start - b.start)) {
    const last = found.at(-1);
    if (last !== undefined && last.start + last.count >= start) {
      last.count = Math.max(last.count, start + count - last.start);
    } else found.push({ start, count });
  }
  return found;
}

export function* ranksOf(runs: readonly RankRun[]): Generator<number, void, undefined> {
  for (const { start, count } of runs) for (let rank = start; rank < start + count; rank++) yield rank;
}

export function countRanks(runs: readonly RankRun[]): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}

/** Returns whether each rank of `runs` is in `of`, which is merged. */
export function isWithin(runs: readonly RankRun[], of: readonly RankRun[]): boolean {
  return runs.every(({ start, count }) =>
    of.some((outer) => outer.start <= start && start + count <= outer.start + outer.count),
  );
}

export function writeRuns(w: Writer, runs: readonly RankRun[]): void {
  writeU32(w, runs.length);
  for (const { start, count } of runs) {
    writeU32(w, start);
    writeU32(w, count);
  }
}

/**
 * Reads runs.
 * @throws ProtocolError if a run has no ranks
 */
export function readRuns(r: Reader): RankRun[] {
  return readList(r, 8, () => {
    const start = readU32(r);
    const count = readU32(r);
    if (count === 0) throw new ProtocolError("a run of no ranks");
    return { start, count };
  });
}

/**
 * Reads a list with its length first.
 * @param least the smallest number of bytes of an element; a length that exceeds the body is refused before memory is
 * allocated
 */
export function readList<T>(r: Reader, least: number, one: () => T): T[] {
  const count = readU32(r);
  if (count * least > r.end - r.position) throw new ProtocolError(`${count} entries do not fit`);
  return Array.from({ length: count }, one);
}
