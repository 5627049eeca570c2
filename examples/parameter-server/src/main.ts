/** A server with 64 MiB of weights, and 8 workers that read weights and write gradients without involving its event loop. */
import { thisHost } from "viceroy";
import "../generated/registry.js";
import { TrainingWorker } from "./training-worker.js";
import { WeightServer } from "./weight-server.js";

const mebibytes = Number(process.argv[2] ?? 64);
const workerCount = 8;
const steps = 3;

await using serverProc = thisHost().spawnProcs();
await using workerProcs = thisHost().spawnProcs({ workers: workerCount });
const server = serverProc.spawn("server", WeightServer, (mebibytes * 2 ** 20) / 4, workerCount);
const workers = workerProcs.spawn("workers", TrainingWorker);
await workers.join.call(server);

const begin = performance.now();
for (let step = 1; step <= steps; step++) {
  // The workers run in sequence, so that every run gives the same numbers. Real training does not need an order.
  for (let worker = 0; worker < workerCount; worker++) await workers.slice({ workers: worker }).step.callOne();
  const [smallest, largest] = await server.range.callOne();
  console.log(`step ${step}: all weights from ${smallest.toFixed(4)} to ${largest.toFixed(4)}`);
}
const transport = await workers.slice({ workers: 0 }).step.callOne();
const moved = (2 * steps * workerCount * mebibytes) / 1024;
const seconds = (performance.now() - begin) / 1000;
console.log(`${moved.toFixed(1)} GiB moved by ${transport}, ${seconds.toFixed(1)} s including the arithmetic`);
