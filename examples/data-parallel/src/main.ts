/**
 * Data parallelism: two processes train one model. Each has half of the data and a copy of the weights. The gradients are
 * averaged, so the copies stay equal. At the end the program compares the copies, and the result of one process with all data.
 */
import assert from "node:assert/strict";
import { thisHost } from "viceroy";
import { inspect, manualSeed, shard, type Tensor, torch } from "viceroy/tensor";
import { makeModel, Training } from "./training.js";

const steps = Number(process.argv[2] ?? 100);
const reportInterval = Math.ceil(steps / 5);

// Heights of a surface above a square, at random points.
manualSeed(1);
const x = torch.rand([512, 2]).mul(2).sub(1);
const y = x.mul(3).sin().sum([1], true);

await using procs = thisHost().spawnProcs({ gpus: 2 });
const trained = await procs.activate(async () => {
  // Without `perRank` all processes start with equal weights.
  manualSeed(2);
  const model = makeModel();
  const training = new Training(model, "gpus");
  const [rows, heights] = [shard(x, { gpus: 0 }), shard(y, { gpus: 0 })];
  for (let step = 1; step <= steps; step++) {
    using loss = training.step(rows, heights);
    if (step % reportInterval === 0 || step === 1) console.log(`step ${step}: loss ${await format(loss)}`);
  }
  return Promise.all(
    model.parameters().map((weights) => Promise.all([0, 1].map((gpus) => inspect(weights, { gpus })))),
  );
});

const equal = trained.every(([first, second]) => bytesOf(first!).equals(bytesOf(second!)));
assert(equal, "cannot train one model: the processes have different weights");
console.log(`${trained.length} parameters: equal bits on both processes`);

manualSeed(2);
const model = makeModel();
const training = new Training(model);
for (let step = 1; step <= steps; step++) training.step(x, y).dispose();
const differences = model.parameters().map((weights, i) => Number(weights.sub(trained[i]![0]!).abs().max().item()));
const difference = Math.max(...differences);
assert(difference < 1e-4, `cannot compute the weights of one process with all data: the difference is ${difference}`);
console.log(`weights of one process with all data: largest difference ${difference.toExponential(0)}`);

async function format(loss: Tensor): Promise<string> {
  return Number((await inspect(loss)).item()).toFixed(4);
}

function bytesOf(t: Tensor): Buffer {
  const { buffer, byteOffset, byteLength } = t.data();
  return Buffer.from(buffer, byteOffset, byteLength);
}
