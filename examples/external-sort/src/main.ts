/** Sorts the lines of a file: `main.ts INPUT OUTPUT [--memory 1GiB] [--processes 3] [--folder /var/tmp]`. */
import { realpathSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { JobContext } from "viceroy/tasks";
import { ProgressLine } from "./progress-line.js";
import { bytesOf, gigabytes } from "./sizes.js";
import { sortFile } from "./sort-file.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    memory: { type: "string", default: "1GiB" },
    processes: { type: "string", default: `${availableParallelism() + 1}` },
    folder: { type: "string" },
  },
});
const [input, output] = positionals;
if (input === undefined || output === undefined || positionals.length > 2) {
  console.error("usage: main.ts INPUT OUTPUT [--memory 1GiB] [--processes 3] [--folder /var/tmp]");
  process.exit(2);
}
if (statSync(output, { throwIfNoEntry: false }) !== undefined && realpathSync(input) === realpathSync(output)) {
  console.error(`cannot sort ${input} in place: name another file for the output`);
  process.exit(2);
}

const memory = bytesOf(values.memory);
// One third is for the lines between the steps, and the rest for the processes.
const stored = Math.floor(memory / 3);
const procs = Number(values.processes);
// A task needs its bytes twice, and those of the task before are garbage that may not have been collected yet.
const share = (memory - stored) / procs / 5;
// The lines that a section gives to a bucket go to memory and disk from 64 KiB on. Smaller ones would stay in the heaps.
const least = Math.sqrt(2 * 65_536 * statSync(input).size);
const taskBytes = Math.ceil(Math.max(share, least));

const begun = performance.now();
const line = new ProgressLine();
await using context = await JobContext.open({
  procs,
  objects: { memory: stored, ...(values.folder === undefined ? {} : { folder: values.folder }) },
});
const { lines, bytes } = await sortFile(context, {
  ...{ input, output, taskBytes, parallel: procs },
  onProgress: (now) => line.show(now),
});
const seconds = (performance.now() - begun) / 1000;
line.end();
console.log(`sorted ${lines.toLocaleString("en")} lines, ${gigabytes(bytes)}`);
console.error(`in ${seconds.toFixed(1)} s, ${(bytes / 1e6 / seconds).toFixed(0)} MB/s`);
