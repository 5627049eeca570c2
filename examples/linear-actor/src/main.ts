/**
 * A layer that is an actor, used from tensor code: what it answers stays on its process as a tensor of the mesh (`rref`), the loss and
 * its gradient are computed there, and go back to the actors as arguments.
 */
import assert from "node:assert/strict";
import { thisHost } from "viceroy";
import { inspect, manualSeed, shard, torch } from "viceroy/tensor";
import "../generated/registry.js";
import { LinearLayer } from "./linear.js";
import { inputs, outputs } from "./shapes.js";

const steps = Number(process.argv[2] ?? 60);
const every = Math.ceil(steps / 5);

manualSeed(1);
const x = torch.randn([512, inputs]);
const right = torch.randn([inputs, outputs]);
const y = x.matmul(right);

await using procs = thisHost().spawnProcs({ gpus: 2 });
const layer = procs.spawn("layer", LinearLayer, inputs, outputs);

await procs.activate(async () => {
  const [rows, wanted] = [shard(x, { gpus: 0 }), shard(y, { gpus: 0 })];
  for (let step = 1; step <= steps; step++) {
    const answer = layer.forward.rref(rows);
    answer.requiresGrad = true;
    const loss = torch.mse_loss(answer, wanted);
    loss.backward();
    const gradient = layer.backward.rref(rows, answer.grad!).reduce("gpus", "avg");
    layer.learn.broadcast(gradient, 0.1);
    if (step % every === 0 || step === 1) {
      const all = await inspect(loss.detach().reduce("gpus", "avg"));
      console.log(`step ${step}: loss ${Number(all.item()).toFixed(4)}`);
    }
  }
});

const [first, second] = [...(await layer.weights.call()).values()];
assert(first!.equal(second!), "cannot train one layer: the actors have different weights");
const difference = Number(first!.sub(right).abs().max().item());
assert(difference < 0.01, `cannot find the weights that the data were made with: the difference is ${difference}`);
console.log("both actors have the same weights, bit for bit: those that the data were made with");
