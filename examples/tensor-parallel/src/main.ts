/**
 * Tensor parallelism and data parallelism together, on a mesh of 2 by 2 processes: two layers are cut along `tp`, the rows
 * of data along `dp`. Results, and weights after some steps, are compared with those of one process that has everything.
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
const there = await procs.activate(async () => {
  const cut: Weights = {
    first: shard(weights.first, { tp: 1 }),
    firstBias: shard(weights.firstBias, { tp: 0 }),
    second: shard(weights.second, { tp: 0 }),
    secondBias: shard(weights.secondBias, {}), // all of it on each
  };
  const rows = shard(x, { dp: 0 });
  const wanted = shard(y, { dp: 0 });
  const layers = new Layers(cut, (part) => part.reduce("tp", "sum"));
  const optimizer = new optim.SGD(layers.parameters(), { lr });
  console.log(`each of 4 processes has ${sizes(cut.first, weights.first)} first weights,`);
  console.log(`${sizes(cut.second, weights.second)} second ones, and ${sizes(rows, x)} inputs`);
  const result = await everywhere(layers.forward(rows).detach().allGather("dp"));

  for (let step = 0; step < steps; step++) {
    using _ = new TensorScope();
    const loss = torch.mse_loss(layers.forward(rows), wanted);
    optimizer.zeroGrad();
    // Gradients that come through `reduce` are those of the sum of what all its processes compute. Those along `tp` compute the
    // same loss each, so that sum is `tp` times the loss that is meant.
    loss.div(extent.tp).backward();
    // The last bias comes after `reduce`: each process has the gradient of its own part of the loss, and the parts are to be added.
    layers.secondBias.grad = layers.secondBias.grad!.reduce("tp", "sum");
    // Processes along `dp` have other rows, as many: the average of their gradients is that of the mean of all rows.
    for (const parameter of layers.parameters()) parameter.grad = parameter.grad!.reduce("dp", "avg");
    optimizer.step();
  }

  const [first, firstBias, second, secondBias] = await Promise.all([
    everywhere(layers.first.detach().allGather("tp", { dim: 1 })),
    everywhere(layers.firstBias.detach().allGather("tp")),
    everywhere(layers.second.detach().allGather("tp")),
    everywhere(layers.secondBias.detach()),
  ]);
  return { result, first, firstBias, second, secondBias };
});

const layers = new Layers(weights, (all) => all);
const optimizer = new optim.SGD(layers.parameters(), { lr });
const result = layers.forward(x).detach();
for (let step = 0; step < steps; step++) {
  using _ = new TensorScope();
  optimizer.zeroGrad();
  torch.mse_loss(layers.forward(x), y).backward();
  optimizer.step();
}

console.log("largest differences between what any of them has and what one process has:");
tell("results", there.result, result);
for (const name of ["first", "firstBias", "second", "secondBias"] as const) {
  const moved = distance(layers[name].detach(), weights[name]).toFixed(3);
  tell(name, there[name], layers[name].detach(), `, moved by up to ${moved}`);
}

function tell(what: string, parts: readonly Tensor[], whole: Tensor, besides = ""): void {
  const difference = Math.max(...parts.map((part) => distance(part, whole)));
  assert(difference < 1e-5, `cannot compute ${what} as one process does: the difference is ${difference}`);
  console.log(`  ${what}${besides}: ${difference.toExponential(0)}`);
}

/** What each process has, all of them the same or nearly so. */
function everywhere(t: Tensor): Promise<Tensor[]> {
  const places = [0, 1].flatMap((dp) => [0, 1].map((tp) => ({ dp, tp })));
  return Promise.all(places.map((place) => inspect(t, place)));
}

function distance(a: Tensor, b: Tensor): number {
  return Number(a.sub(b).abs().max().item());
}

function sizes(part: Tensor, whole: Tensor): string {
  return `${part.shape.join("×")} of ${whole.shape.join("×")}`;
}
