/** Sorts the lines of a file that is larger than memory, by tasks: a shuffle, as that of MapReduce. */
import { open, stat } from "node:fs/promises";
import type { JobContext, ObjectRef } from "viceroy/tasks";
import type { Part } from "../generated/sort.js";
import { chooseSplitters } from "./choose-splitters.js";
import { deal, sortBucket } from "./tasks.js";

/** Progress of one of the two steps. */
export interface Progress {
  readonly step: "dealt" | "sorted";
  /** The bytes of the input for which the step is done. */
  readonly done: number;
  readonly total: number;
}

export interface SortOptions {
  readonly input: string;
  readonly output: string;
  /** The bytes that one task handles. A task needs twice as much memory. */
  readonly taskBytes: number;
  /** The number of buckets that are in memory at the same time. */
  readonly parallel: number;
  readonly onProgress?: (progress: Progress) => void;
}

export interface SortResult {
  readonly lines: number;
  readonly bytes: number;
}

/** The lines of one section, by buckets. */
type Dealt = readonly Part[];

/** @throws TaskError if the input cannot be read or the output cannot be written */
export async function sortFile(context: JobContext, options: SortOptions): Promise<SortResult> {
  const { size } = await stat(options.input);
  const splitters = await chooseSplitters(options.input, size, Math.ceil(size / options.taskBytes));
  const dealt = await dealSections(context, options, size, splitters);
  const sizes = [...splitters, undefined].map((_, bucket) =>
    dealt.reduce((sum, parts) => sum + (parts[bucket]?.size ?? 0), 0),
  );
  const bytes = sizes.reduce((sum, each) => sum + each, 0);
  const output = await open(options.output, "w");
  await output.truncate(bytes);
  await output.close();
  return { lines: await sortBuckets(context, options, dealt, sizes), bytes };
}

/** Deals all lines to buckets. The lines of a bucket are in as many parts as there are sections. */
function dealSections(
  context: JobContext,
  { input, taskBytes, onProgress }: SortOptions,
  total: number,
  splitters: readonly Uint8Array[],
): Promise<Dealt[]> {
  let done = 0;
  const sections = Array.from({ length: Math.ceil(total / taskBytes) }, async (_, i) => {
    const [start, end] = [i * taskBytes, Math.min((i + 1) * taskBytes, total)];
    using parts = context.run(deal, { file: input, start, end }, [...splitters]);
    const value = await context.get(parts);
    done += end - start;
    onProgress?.({ step: "dealt", done, total });
    return value;
  });
  return Promise.all(sections);
}

/** Sorts each bucket to its place in the output. Returns the number of lines. */
async function sortBuckets(
  context: JobContext,
  { output, parallel, onProgress }: SortOptions,
  dealt: readonly Dealt[],
  sizes: readonly number[],
): Promise<number> {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let [start, done, lines] = [0, 0, 0];
  const sortOne = async (size: number, bucket: number) => {
    const target = { file: output, start, size };
    start += size;
    const parts = dealt.flatMap((section) => section[bucket]?.lines ?? []);
    using sorted = context.run(sortBucket, parts, target);
    const count = await context.get(sorted);
    release(parts);
    lines += count;
    done += size;
    onProgress?.({ step: "sorted", done, total });
  };
  // A task that waits for its parts lets others begin in its process. All of them together would not fit into memory.
  const buckets = sizes.entries();
  const sortNext = async () => {
    for (const [bucket, size] of buckets) await sortOne(size, bucket);
  };
  await Promise.all(Array.from({ length: parallel }, sortNext));
  return lines;
}

/** Makes room for what is not sorted yet. */
function release(parts: readonly ObjectRef<Uint8Array>[]): void {
  for (const part of parts) part.release();
}
