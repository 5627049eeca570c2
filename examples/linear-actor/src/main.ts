/**
 * Tensor code that uses an actor as a layer. The actors' answers stay in their processes as tensors of the mesh (`rref`). The processes
 * compute the loss and its gradient, which go back to the actors as arguments.
 */
import assert from "node:assert/strict";
import { thisHost } from "viceroy";
import { inspect, manualSeed, shard, torch } from "viceroy/tensor";
import "../generated/registry.js";
import { LinearLayer } from "./linear.js";
import { inputs, outputs } from "./shapes.js";

const steps = Number(process.argv[2] ?? 60);
const reportInterval = Math.ceil(steps / 5);

manualSeed(1);
const x = torch.randn([512, inputs]);
const trueWeights = torch.randn([inputs, outputs]);
const y = x.matmul(trueWeights);

await using procs = thisHost().spawnProcs({ gpus: 2 });
const layer = procs.spawn("layer", LinearLayer, inputs, outputs);

await procs.activate(async () => {
  const [rows, targets] = [shard(x, { gpus: 0 }), shard(y, { gpus: 0 })];
  for (let step = 1; step <= steps; step++) {
    const output = layer.forward.rref(rows);
    output.requiresGrad = true;
    const loss = torch.mse_loss(output, targets);
    loss.backward();
    const gradient = layer.backward.rref(rows, output.grad!).reduce("gpus", "avg");
    layer.learn.broadcast(gradient, 0.1);
    if (step % reportInterval === 0 || step === 1) {
      const mean = await inspect(loss.detach().reduce("gpus", "avg"));
      console.log(`step ${step}: loss ${Number(mean.item()).toFixed(4)}`);
    }
  }
});

const [first, second] = [...(await layer.weights.call()).values()];
assert(first!.equal(second!), "cannot train one layer: the actors have different weights");
const difference = Number(first!.sub(trueWeights).abs().max().item());
assert(difference < 0.01, `cannot find the weights behind the data: the difference is ${difference}`);
console.log("both actors have equal weights, bit for bit, and these are the weights behind the data");
