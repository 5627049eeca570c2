/** Data-parallel training: four trainers, each with the loader of its rank. The models are averaged after every round. */
import { thisHost } from "viceroy";
import "../generated/registry.js";
import type { Line } from "../generated/trainer.js";
import { LineTrainer } from "./line-trainer.js";
import { SyntheticLoader } from "./synthetic-loader.js";

const gpus = 4;
const rounds = 8;
const stepsPerRound = 5;

await using work = thisHost().spawnProcs({ gpus });
await using data = thisHost().spawnProcs({ gpus });
const loaders = data.spawn("loaders", SyntheticLoader, 64);
// The mesh of loaders is an ordinary argument. No mesh needs to be ready: earlier messages wait.
const trainers = work.spawn("trainers", LineTrainer, loaders);

console.log(`${gpus} trainers and ${gpus} loaders, each a process; looking for y = 3x - 2`);
let line: Line = { slope: 0, offset: 0 };
for (let round = 1; round <= rounds; round++) {
  const progress = [...(await trainers.train.call(line, stepsPerRound)).values()];
  line = {
    slope: mean(progress.map((p) => p.line.slope)),
    offset: mean(progress.map((p) => p.line.offset)),
  };
  const loss = mean(progress.map((p) => p.loss));
  const bar = "#".repeat(Math.ceil(4 * loss));
  console.log(`round ${round}  loss ${loss.toFixed(4)}  y = ${line.slope.toFixed(2)}x ${signed(line.offset)}  ${bar}`);
}

const last = await trainers.train.call(line, 2);
for (const [point, { batches }] of last) {
  console.log(`trainer ${point} used batches ${batches.join(" and ")} last`);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function signed(value: number): string {
  return `${value < 0 ? "-" : "+"} ${Math.abs(value).toFixed(2)}`;
}
