/** One run of Viceroy: `driver.js <profile>` prints a line of JSON with the medians. */
import { RdmaBuffer } from "viceroy/rdma";
import { JobContext } from "viceroy/tasks";
import { median } from "../harness/stats.js";
import { first, make } from "./tasks.js";

const { bytes, repeats } = JSON.parse(process.argv[2]);
const context = await JobContext.open({ procs: 4, resources: { cpus: 4 } });
const value = new Uint8Array(bytes).fill(7);
const took = { copy: [], put: [], get: [], again: [], row: [], tasks: [], result: [], number: [] };
const hasAddon = process.env.VICEROY_LINKS === "memory";
/** The number of gets in a row. Without the addon, each of them copies the value. */
const gets = hasAddon ? 100 : 2;

function measureNow(name, scale, body) {
  const begin = performance.now();
  const result = body();
  took[name].push((performance.now() - begin) * scale);
  return result;
}

async function measure(name, scale, body) {
  const begin = performance.now();
  const result = await body();
  took[name].push((performance.now() - begin) * scale);
  return result;
}

const readers = () =>
  Promise.all(Array.from({ length: 8 }, () => context.run(first, ref)).map((each) => context.get(each)));
let ref;
for (let i = 0; i <= repeats; i++) {
  if (hasAddon) {
    const buffer = measureNow("copy", 1, () => {
      const made = RdmaBuffer.allocate(bytes);
      made.view.set(value);
      return made;
    });
    await buffer.drop();
  }
  ref = measureNow("put", 1, () => context.put(value));
  const got = await measure("get", 1, () => context.get(ref));
  const again = await measure("again", 1000, () => context.get(ref));
  if (got[0] !== 7 || again.at(-1) !== 7) throw new Error("unexpected value");
  await measure("row", 1000 / gets, async () => {
    for (let n = 0; n < gets; n++) await context.get(ref);
  });
  const answers = await measure("tasks", 1, readers);
  if (!answers.every((answer) => answer === 7)) throw new Error(`unexpected answers ${answers}`);
  ref.release();
  const made = context.run(make, bytes);
  await measure("result", 1, () => context.get(made));
  made.release();
  await measure("number", 1000, async () => {
    const number = context.put(i);
    if ((await context.get(number)) !== i) throw new Error("unexpected number");
  });
}
// The first round starts processes and compiles code.
const medians = Object.fromEntries(
  Object.entries(took).flatMap(([name, times]) => (times.length === 0 ? [] : [[name, median(times.slice(1))]])),
);
await context.close();
console.log(JSON.stringify(medians));
process.exit(0);
