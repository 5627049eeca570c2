/**
 * Tensor parallelism and data parallelism together, on a mesh of 2 by 2 processes: two layers are divided along `tp`, the rows
 * of data along `dp`. The program compares the results, and the weights after some steps, with those of a single process.
 */
import assert from "node:assert/strict";
import { thisHost } from "viceroy";
import { inspect, manualSeed, optim, shard, type Tensor, TensorScope, torch } from "viceroy/tensor";
import { Layers, type Weights } from "./layers.js";

const steps = Number(process.argv[2] ?? 20);
const extent = { dp: 2, tp: 2 };
const lr = 0.5;

manualSeed(1);
const weights: Weights = {
  first: torch.randn([16, 64]).mul(0.25),
  firstBias: torch.zeros([64]),
  second: torch.randn([64, 8]).mul(0.125),
  secondBias: torch.zeros([8]),
};
const x = torch.randn([128, 16]);
const y = torch.randn([128, 8]);

await using procs = thisHost().spawnProcs(extent);
const meshResults = await procs.activate(async () => {
  const parts: Weights = {
    first: shard(weights.first, { tp: 1 }),
    firstBias: shard(weights.firstBias, { tp: 0 }),
    second: shard(weights.second, { tp: 0 }),
    secondBias: shard(weights.secondBias, {}), // a whole copy in each process
  };
  const rows = shard(x, { dp: 0 });
  const targets = shard(y, { dp: 0 });
  const layers = new Layers(parts, (part) => part.reduce("tp", "sum"));
  const optimizer = new optim.SGD(layers.parameters(), { lr });
  console.log(`each of 4 processes has ${sizes(parts.first, weights.first)} first weights,`);
  console.log(`${sizes(parts.second, weights.second)} second weights and ${sizes(rows, x)} inputs`);
  const result = await fetchAll(layers.forward(rows).detach().allGather("dp"));

  for (let step = 0; step < steps; step++) {
    using _ = new TensorScope();
    const loss = torch.mse_loss(layers.forward(rows), targets);
    optimizer.zeroGrad();
    // Gradients that pass back through `reduce` are those of the sum of the losses of its processes. The processes along `tp`
    // compute equal losses, so that sum is `tp` times the intended loss.
    loss.div(extent.tp).backward();
    // The second bias is added after `reduce`: each process has the gradient of its share of the loss, and the shares are summed.
    layers.secondBias.grad = layers.secondBias.grad!.reduce("tp", "sum");
    // Processes along `dp` have different rows, equally many: the average of their gradients is that of the mean over all rows.
    for (const parameter of layers.parameters()) parameter.grad = parameter.grad!.reduce("dp", "avg");
    optimizer.step();
  }

  const [first, firstBias, second, secondBias] = await Promise.all([
    fetchAll(layers.first.detach().allGather("tp", { dim: 1 })),
    fetchAll(layers.firstBias.detach().allGather("tp")),
    fetchAll(layers.second.detach().allGather("tp")),
    fetchAll(layers.secondBias.detach()),
  ]);
  return { result, first, firstBias, second, secondBias };
});

const layers = new Layers(weights, (whole) => whole);
const optimizer = new optim.SGD(layers.parameters(), { lr });
const result = layers.forward(x).detach();
for (let step = 0; step < steps; step++) {
  using _ = new TensorScope();
  optimizer.zeroGrad();
  torch.mse_loss(layers.forward(x), y).backward();
  optimizer.step();
}

console.log("largest differences from a single process:");
compare("results", meshResults.result, result);
for (const name of ["first", "firstBias", "second", "secondBias"] as const) {
  const change = distance(layers[name].detach(), weights[name]).toFixed(3);
  compare(name, meshResults[name], layers[name].detach(), `, changed by up to ${change}`);
}

function compare(name: string, copies: readonly Tensor[], expected: Tensor, note = ""): void {
  const difference = Math.max(...copies.map((copy) => distance(copy, expected)));
  assert(difference < 1e-5, `cannot compute the ${name} of a single process: the difference is ${difference}`);
  console.log(`  ${name}${note}: ${difference.toExponential(0)}`);
}

/** Fetches the copies of all processes, which differ by rounding at most. */
function fetchAll(t: Tensor): Promise<Tensor[]> {
  const points = [0, 1].flatMap((dp) => [0, 1].map((tp) => ({ dp, tp })));
  return Promise.all(points.map((point) => inspect(t, point)));
}

function distance(a: Tensor, b: Tensor): number {
  return Number(a.sub(b).abs().max().item());
}

function sizes(part: Tensor, whole: Tensor): string {
  return `${part.shape.join("×")} of ${whole.shape.join("×")}`;
}
