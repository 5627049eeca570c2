/** Chooses the bounds of buckets from a sample of lines. */
import { open } from "node:fs/promises";
import { readAll } from "./read-section.js";

/** The number of sampled lines for each bucket, which makes the largest bucket about a third larger than the mean. */
const samplesPerBucket = 64;
/** The number of bytes in which a line is looked for. */
const sampleBytes = 4096;
const newline = 10;

/**
 * Returns lines that divide a file into buckets of about the same size, in ascending order, each once. There are fewer if many
 * lines are equal.
 *
 * @param size the size of the file in bytes
 * @param buckets the number of buckets that are wanted
 */
export async function chooseSplitters(file: string, size: number, buckets: number): Promise<Buffer[]> {
  const sample = await sampleLines(file, size, buckets * samplesPerBucket);
  sample.sort(Buffer.compare);
  const splitters: Buffer[] = [];
  for (let bucket = 1; bucket < buckets; bucket++) {
    const splitter = sample[Math.floor((bucket * sample.length) / buckets)];
    if (splitter !== undefined && !splitters.at(-1)?.equals(splitter)) splitters.push(splitter);
  }
  return splitters;
}

/** Returns lines from places at equal distances. Lines that are longer than a sample are cut, which is as good for a splitter. */
async function sampleLines(file: string, size: number, count: number): Promise<Buffer[]> {
  const input = await open(file);
  try {
    const lines: Buffer[] = [];
    for (let i = 0; i < count; i++) {
      const bytes = Buffer.allocUnsafe(sampleBytes);
      const read = await readAll(input, bytes, Math.floor((i * size) / count));
      const found = bytes.subarray(0, read);
      const start = i === 0 ? 0 : found.indexOf(newline) + 1;
      const end = found.indexOf(newline, start);
      lines.push(Buffer.from(found.subarray(start, end < 0 ? read : end)));
    }
    return lines;
  } finally {
    await input.close();
  }
}
