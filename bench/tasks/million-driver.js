/**
 * One run: `node million-driver.js <tasks>` runs empty tasks, 1,000 in flight, and prints a line of JSON: the heap after a garbage collection,
 * the resident memory in bytes, and the tasks per second, for each tenth of the run.
 */
import { JobContext } from "viceroy/tasks";
import { usage } from "../memory/usage.js";
import { same } from "./functions.js";

const tasks = Number(process.argv[2]);
const inFlight = 1000;

const context = await JobContext.open({ procs: 4 });
const tenths = [];
for (let tenth = 0; tenth < 10; tenth++) {
  const begin = performance.now();
  const sum = await runTasks(tenth * (tasks / 10), (tenth + 1) * (tasks / 10));
  const seconds = (performance.now() - begin) / 1000;
  const expected = ((tasks / 10) * (2 * tenth + 1) * (tasks / 10) - tasks / 10) / 2;
  if (sum !== expected) throw new Error(`expected each answer once, got the sum ${sum}, not ${expected}`);
  const { heap, resident } = usage();
  tenths.push({ heap, resident, rate: tasks / 10 / seconds });
}
await context.close();
process.stdout.write(`${JSON.stringify({ tenths })}\n`);
process.exit(0);

/** Returns the sum of the results. */
async function runTasks(from, to) {
  let next = from;
  let sum = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < to) {
        const value = await context.get(context.run(same, next++));
        sum += value;
      }
    }),
  );
  return sum;
}
