/**
 * `handles.js <subject> <ms>`: what a handle costs. `call`: a call without arguments; `handle`: a call that answers with a buffer, and a read
 * of 4 KiB of it; `readers-1`, `readers-8`: so many processes that read the same 64 MiB at a time. Prints us each, or GB/s of all.
 */
import { loadDriver } from "../viceroy/prepare.js";

const [subject, ms] = process.argv.slice(2);
const readers = Number(/^readers-(\d+)$/.exec(subject)?.[1] ?? 0);
const keepers = (await loadDriver()).spawnKeepers(1 + readers);
const owner = keepers.at(0);
const size = readers > 0 ? 2 ** 26 : 4096;
const buffer = await owner.make.callOne(true, size);
const into = new Uint8Array(4096);

async function read() {
  const lent = await owner.lend.callOne();
  await lent.readInto(into);
}

async function each(once) {
  for (let i = 0; i < 2000; i++) await once();
  const times = [];
  const end = performance.now() + Number(ms);
  while (performance.now() < end) {
    const begin = performance.now();
    for (let i = 0; i < 100; i++) await once();
    times.push((1000 * (performance.now() - begin)) / 100);
  }
  return { us: Math.min(...times) };
}

async function together() {
  const times = 10;
  const begin = performance.now();
  const pulls = Array.from({ length: readers }, (_, i) => keepers.at(1 + i).pull.callOne(buffer, "shared", times));
  const took = await Promise.all(pulls);
  return { speed: took.reduce((sum, one) => sum + (times * size) / 1e6 / one, 0), ms: performance.now() - begin };
}

const once = subject === "call" ? () => owner.nothing.callOne() : read;
const result = readers > 0 ? await together() : await each(once);
await keepers.stop();
console.log(JSON.stringify(result));
