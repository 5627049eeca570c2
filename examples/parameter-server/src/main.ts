/** A server with 64 MiB of weights and 8 workers in processes of their own: weights are read and gradients left without it. */
import { thisHost } from "viceroy";
import "../generated/registry.js";
import { GradientWorker } from "./pupil.js";
import { WeightServer } from "./shard.js";

const mebibytes = Number(process.argv[2] ?? 64);
const workers = 8;
const steps = 3;

await using serverProc = thisHost().spawnProcs();
await using workerProcs = thisHost().spawnProcs({ workers });
const server = serverProc.spawn("server", WeightServer, (mebibytes * 2 ** 20) / 4, workers);
const pupils = workerProcs.spawn("pupils", GradientWorker);
await pupils.join.call(server);

const begin = performance.now();
for (let step = 1; step <= steps; step++) {
  // One after the other, so that every run gives the same numbers; real training does not mind the order.
  for (let worker = 0; worker < workers; worker++) await pupils.slice({ workers: worker }).step.callOne();
  const [least, most] = await server.range.callOne();
  console.log(`step ${step}: all weights from ${least.toFixed(4)} to ${most.toFixed(4)}`);
}
const transport = await pupils.slice({ workers: 0 }).step.callOne();
const moved = (2 * steps * workers * mebibytes) / 1024;
const seconds = (performance.now() - begin) / 1000;
console.log(`${moved.toFixed(1)} GiB moved by ${transport}, ${seconds.toFixed(1)} s with all the arithmetic`);
