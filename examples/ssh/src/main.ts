/** Counts primes on all hosts of a job: machines that `ssh` reaches, or two hosts on this machine. */
import assert from "node:assert/strict";
import "../generated/registry.js";
import { makeJob } from "./job.js";
import { PrimeSearcher } from "./prime-searcher.js";

const limit = 200_000;
const perHost = 2;

await using job = makeJob(process.argv.slice(2));
const { searchers } = await job.state();
const procs = searchers.spawnProcs({ workers: perHost });
const actors = procs.spawn("searchers", PrimeSearcher);

const found = await actors.count.call(limit, searchers.extent.hosts * perHost);
for (const [point, { machine, primes }] of found) {
  console.log(`host ${point.coordinates.hosts}, worker ${point.coordinates.workers}: ${primes} primes on ${machine}`);
}
const total = [...found.values()].reduce((sum, { primes }) => sum + primes, 0);
assert.equal(total, 17_984);
console.log(`${total} primes below ${limit}`);
