/**
 * `reader.js <way> <bytes> <ms> <path>`: fetches bytes from another process, in turns with a copy of as many within this one, which
 * is the limit. Prints the fastest GB/s of both, and the median of their ratios, turn by turn.
 */
import { readFileSync } from "node:fs";
import { ways } from "./ways.js";

const [way, bytes, ms, path] = process.argv.slice(2);
const size = Number(bytes);
const { fetch, stop } = await ways[way](size, path);
const from = new Uint8Array(size).fill(3);
const into = new Uint8Array(size).fill(4);

/** So many at a time that the clock does not matter. */
const batch = Math.max(1, Math.floor(2 ** 20 / size));

async function time(once) {
  const begin = performance.now();
  for (let i = 0; i < batch; i++) await once(into);
  return (performance.now() - begin) / batch;
}

if (way === "vm on huge pages" && hugeBytes() < 1.9 * size) throw new Error("the memory is not in huge pages");

/** Of this process. */
function hugeBytes() {
  const [, kibibytes] = /^AnonHugePages:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/smaps_rollup", "latin1"));
  return 1024 * Number(kibibytes);
}

const copy = () => into.set(from);
await time(fetch);
await time(copy);
const turns = [];
const end = performance.now() + Number(ms);
do turns.push({ other: await time(fetch), memcpy: await time(copy) });
while (performance.now() < end || turns.length < 5);
if (into[0] !== 3) throw new Error("the bytes are not there");
const speed = (times) => size / 1e6 / Math.min(...times);
const ratios = turns.map(({ other, memcpy }) => memcpy / other).sort((a, b) => a - b);
const result = {
  speed: speed(turns.map(({ other }) => other)),
  memcpy: speed(turns.map(({ memcpy }) => memcpy)),
  ofMemcpy: ratios[ratios.length >> 1],
  us: 1000 * Math.min(...turns.map(({ other }) => other)),
};
await stop();
console.log(JSON.stringify(result));
process.exit();
