/**
 * `reader.js <method> <bytes> <ms> <path>`: fetches bytes from another process, interleaved with a copy of as many bytes within this process,
 * which is the limit. Prints the fastest GB/s of both, and the median of their paired ratios.
 */
import { readFileSync } from "node:fs";
import { transferMethods } from "./transfer-methods.js";

const [method, bytes, ms, path] = process.argv.slice(2);
const size = Number(bytes);
const { fetch, stop } = await transferMethods[method](size, path);
const from = new Uint8Array(size).fill(3);
const into = new Uint8Array(size).fill(4);

/** Operations per measurement: enough to make the resolution of the clock irrelevant. */
const batch = Math.max(1, Math.floor(2 ** 20 / size));

async function time(operation) {
  const begin = performance.now();
  for (let i = 0; i < batch; i++) await operation(into);
  return (performance.now() - begin) / batch;
}

if (method === "vm on huge pages" && hugeBytes() < 1.9 * size) throw new Error("the memory is not in huge pages");

/** Bytes of this process that are in huge pages. */
function hugeBytes() {
  const [, kibibytes] = /^AnonHugePages:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/smaps_rollup", "latin1"));
  return 1024 * Number(kibibytes);
}

const copy = () => into.set(from);
await time(fetch);
await time(copy);
const pairs = [];
const end = performance.now() + Number(ms);
do pairs.push({ other: await time(fetch), memcpy: await time(copy) });
while (performance.now() < end || pairs.length < 5);
if (into[0] !== 3) throw new Error("the bytes have not been transferred");
const speed = (times) => size / 1e6 / Math.min(...times);
const ratios = pairs.map(({ other, memcpy }) => memcpy / other).sort((a, b) => a - b);
const result = {
  speed: speed(pairs.map(({ other }) => other)),
  memcpy: speed(pairs.map(({ memcpy }) => memcpy)),
  ofMemcpy: ratios[ratios.length >> 1],
  us: 1000 * Math.min(...pairs.map(({ other }) => other)),
};
await stop();
console.log(JSON.stringify(result));
process.exit();
