/** The tasks. Worker processes load this module. */
import { open } from "node:fs/promises";
import { JobContext, type ObjectRef, task } from "viceroy/tasks";
import { DealTask, type Part, type Section, SortBucketTask, type Target } from "../generated/sort.js";
import { collectGarbage } from "./collect-garbage.js";
import { dealLines } from "./deal-lines.js";
import { readSection } from "./read-section.js";
import { slicesOf, sortLines } from "./sort-lines.js";

export const deal = task(import.meta.url, "deal", DealTask, async (section: Section, splitters: Uint8Array[]) => {
  const buckets = dealLines(await readSection(section), splitters);
  const context = JobContext.current();
  const parts = buckets.map((lines): Part => ({ size: lines.length, lines: context.put<Uint8Array>(lines) }));
  setImmediate(collectGarbage);
  return parts;
});

export const sortBucket = task(
  import.meta.url,
  "sortBucket",
  SortBucketTask,
  async (parts: ObjectRef<Uint8Array>[], { file, start, size }: Target) => {
    const lines = await Promise.all(parts.map((part) => part.get()));
    const sorted = sortLines(lines);
    const output = await open(file, "r+");
    try {
      let at = start;
      let written: Promise<unknown> = Promise.resolve();
      // The next slice is filled while the last one is written.
      for (const slice of slicesOf(sorted)) {
        await written;
        written = output.write(slice, 0, slice.length, at);
        at += slice.length;
      }
      await written;
      if (at !== start + size) throw new Error(`a bucket of ${size} bytes has become ${at - start} bytes`);
    } finally {
      await output.close();
      setImmediate(collectGarbage);
    }
    return sorted.order.length;
  },
);
