/** Estimates the area of the Mandelbrot set with the processors of two nodes, until it is exact enough or the time is over. */
import "../generated/registry.js";
import { job } from "./job.js";
import { MandelbrotSampler, rectangle } from "./mandelbrot-sampler.js";

const perHost = 2;
const points = 40_000;
const maxRounds = 6;

let isTimeOver = false;
// Slurm warns a minute before the time limit, or before it gives the nodes to somebody else.
void (async () => {
  for await (const { kind, reason } of job.watch()) {
    if (kind === "pending" || kind === "warned") console.log(reason);
    if (kind === "warned") isTimeOver = true;
  }
})();

await using _killedAtTheEnd = job;
const { samplers } = await job.state();
const actors = samplers.spawnProcs({ cpus: perHost }).spawn("samplers", MandelbrotSampler);
const { left, right, bottom, top } = rectangle;
const counts = new Map<string, number>();
let taken = 0;
for (let round = 1; round <= maxRounds && !isTimeOver; round++) {
  const samples = [...(await actors.sample.call(round, points)).values()];
  for (const { host, inside } of samples) counts.set(host, (counts.get(host) ?? 0) + inside);
  taken += samples.length * points;
  const share = [...counts.values()].reduce((sum, inside) => sum + inside, 0) / taken;
  const area = share * (right - left) * (top - bottom);
  console.log(`round ${round}: ${taken.toLocaleString("en")} points, area ${area.toFixed(4)}`);
}
for (const [host, inside] of [...counts].sort())
  console.log(`${host} has found ${inside.toLocaleString("en")} points of the set`);
