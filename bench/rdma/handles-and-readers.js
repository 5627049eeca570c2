/**
 * `handles-and-readers.js <subject> <ms>` measures one subject. `call`: a call without arguments. `handle`: a call that returns a buffer, and a
 * read of 4 KiB of it. `readers-1`, `readers-8`: that many processes that read the same 64 MiB at the same time. Prints us per operation, or
 * the GB/s of all readers together.
 */
import { loadDriver } from "../viceroy/prepare.js";

const [subject, ms] = process.argv.slice(2);
const readers = Number(/^readers-(\d+)$/.exec(subject)?.[1] ?? 0);
const owners = (await loadDriver()).spawnBufferOwners(1 + readers);
const owner = owners.at(0);
const size = readers > 0 ? 2 ** 26 : 4096;
const buffer = await owner.create.callOne(true, size);
const into = new Uint8Array(4096);

async function read() {
  const handle = await owner.handle.callOne();
  await handle.readInto(into);
}

async function measureOperation(operation) {
  for (let i = 0; i < 2000; i++) await operation();
  const times = [];
  const end = performance.now() + Number(ms);
  while (performance.now() < end) {
    const begin = performance.now();
    for (let i = 0; i < 100; i++) await operation();
    times.push((1000 * (performance.now() - begin)) / 100);
  }
  return { us: Math.min(...times) };
}

async function measureReaders() {
  const times = 10;
  const begin = performance.now();
  const pulls = Array.from({ length: readers }, (_, i) => owners.at(1 + i).pull.callOne(buffer, "shared", times));
  const durations = await Promise.all(pulls);
  return { speed: durations.reduce((sum, ms) => sum + (times * size) / 1e6 / ms, 0), ms: performance.now() - begin };
}

const operation = subject === "call" ? () => owner.ping.callOne() : read;
const result = readers > 0 ? await measureReaders() : await measureOperation(operation);
await owners.stop();
console.log(JSON.stringify(result));
