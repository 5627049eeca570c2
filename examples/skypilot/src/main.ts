/** Estimates the area of the Mandelbrot set with the processors of two spot machines, which may be taken away meanwhile. */
import "../generated/registry.js";
import { job } from "./job.js";
import { MandelbrotSampler, rectangle } from "./mandelbrot-sampler.js";

const perHost = 2;
const points = 40_000;
const rounds = 6;

// SkyPilot tells what it waits for, and which machines it has replaced.
const told = ["pending", "host-lost", "host-replaced"];
void (async () => {
  for await (const { kind, reason } of job.watch()) if (told.includes(kind)) console.log(`${kind}: ${reason}`);
})();

await using _killedAtTheEnd = job;
const { samplers } = await job.state();
const restart = { policy: "on-failure" } as const;
const actors = samplers.spawnProcs({ cpus: perHost }, { restart }).spawn("samplers", MandelbrotSampler);
// A round whose sampler is lost with its machine is taken again on the next machine.
const sample = actors.sample.with({ wait: true, retry: 3 });
const { left, right, bottom, top } = rectangle;
const counts = new Map<string, number>();
let taken = 0;
for (let round = 1; round <= rounds; round++) {
  const samples = [...(await sample.call(round, points)).values()];
  for (const { host, inside } of samples) counts.set(host, (counts.get(host) ?? 0) + inside);
  taken += samples.length * points;
  const share = [...counts.values()].reduce((sum, inside) => sum + inside, 0) / taken;
  const area = share * (right - left) * (top - bottom);
  console.log(`round ${round}: ${taken.toLocaleString("en")} points, area ${area.toFixed(4)}`);
}
for (const [host, inside] of [...counts].sort())
  console.log(`${host} has found ${inside.toLocaleString("en")} points of the set`);
