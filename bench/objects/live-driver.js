/** One run: `node --expose-gc live-driver.js <kind> <count>` prints a line of JSON with bytes per value. */
import { setTimeout as delay } from "node:timers/promises";
import { JobContext } from "viceroy/tasks";
import { usage } from "../memory/usage.js";
import { heapOfWorker, keep, same } from "./tasks.js";

const [, , kind, countText] = process.argv;
const count = Number(countText);
/** The number of bytes into which most of the numbers are encoded. */
const ENCODED_BYTES = 5;
/** The number of tasks that are in flight. */
const WINDOW = 1000;

/** Returns the bytes of the heap, and outside of it, when they do not change any more: messages may still be under way. */
async function settledHeap() {
  for (let last = Number.NaN; ; ) {
    await delay(500);
    const { heap } = usage();
    if (Math.abs(heap - last) < count / 2) return heap;
    last = heap;
  }
}

async function bytesPerValue(make) {
  const before = await settledHeap();
  const kept = await make(count);
  const after = await settledHeap();
  return [(after - before) / count, kept];
}

const encoded = (length) => Array.from({ length }, () => new Uint8Array(ENCODED_BYTES));
const records = (length) => encoded(length).map((bytes, id) => ({ id, bytes }));

const [value, values] = await bytesPerValue(encoded);
values.length = 0;

if (kind === "records") {
  const [bytes, kept] = await bytesPerValue(records);
  print({ bytes, value }, kept);
}

const context = await JobContext.open({ procs: 1, resources: { cpus: 1 } });
const put = (length) => Array.from({ length }, (_, i) => context.put(i));

async function results(length) {
  const refs = [];
  for (let i = 0; i < length; i += WINDOW) {
    const group = Array.from({ length: Math.min(WINDOW, length - i) }, (_, j) => context.run(same, i + j));
    await context.get(group);
    refs.push(...group);
  }
  return refs;
}

async function borrowed(length) {
  const refs = put(length);
  await context.get(context.run(keep, refs));
  return refs;
}

const heapOfBorrower = () => context.get(context.run(heapOfWorker));
// The first calls compile code, which takes memory, too.
await borrowed(WINDOW);
await results(WINDOW);
await context.get(context.run(keep, []));

const before = await heapOfBorrower();
const [bytes, kept] = await bytesPerValue({ put, results, borrowed }[kind]);
const borrower = ((await heapOfBorrower()) - before) / count;
print(kind === "borrowed" ? { bytes, value, borrower } : { bytes, value }, kept);

/** @param kept what must not be collected before */
function print(numbers, kept) {
  if (kept.length !== count) throw new Error("values were lost");
  console.log(JSON.stringify(numbers));
  process.exit(0);
}
