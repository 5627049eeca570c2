/** Engines pull the weights of trainers, version after version, while those go on training; nobody gets a torn version. */
import { range, thisHost } from "viceroy";
import "../generated/registry.js";
import type { Lateness } from "../generated/weights.js";
import { WeightTrainer } from "./part.js";
import { WeightEngine } from "./replica.js";

const mebibytes = Number(process.argv[2] ?? 16);
const steps = Number(process.argv[3] ?? 12);
const followers = 2;

await using trainerProcs = thisHost().spawnProcs({ trainers: 2 });
await using engineProcs = thisHost().spawnProcs({ engines: followers + 1 });
const trainers = trainerProcs.spawn("trainers", WeightTrainer, (mebibytes * 2 ** 20) / 4);
const engines = engineProcs.spawn("engines", WeightEngine);
await engines.join.call(trainers);

/** The lateness of the trainer that was latest. */
async function latest(): Promise<string> {
  const all = [...(await trainers.lateness.call()).values()];
  const most = (part: keyof Lateness) => Math.max(...all.map((one) => one[part])).toFixed(1);
  return `${most("mean")} ms late on average, ${most("most")} ms at most; own work: ${most("busy")} ms at most`;
}

// Code becomes fast, and memory is there.
for (let step = 0; step < 3; step++) await trainers.step.call();
await engines.pull.call();
await latest();

for (let step = 0; step < steps; step++) await trainers.step.call();
console.log(`event loops of trainers that nobody reads: ${await latest()}`);

const late = engines.slice({ engines: followers });
const asked = await late.ask.callOne();
const last = asked + steps;
const following = engines.slice({ engines: range(0, followers) }).follow.call(last);
for (let step = 0; step < steps; step++) await trainers.step.call();
await following;
console.log(`event loops of trainers that ${followers} engines read: ${await latest()}`);

const got = await late.pull.callOne();
const seen = [...(await engines.seen.call()).values()];
const sum = (part: "whole" | "torn" | "refused") => seen.reduce((all, one) => all + one[part], 0);
console.log(`versions of ${2 * mebibytes} MiB that engines began to pull by ${seen[0]!.transport}:`);
console.log(
  `  whole: ${sum("whole")}, refused since they had been taken back: ${sum("refused")}, torn: ${sum("torn")}`,
);
const { refused } = seen.at(-1)!;
console.log(`the late engine asked at version ${asked}, was refused ${refused} time, and has version ${got}`);
console.log(`all engines have versions ${seen.map(({ version }) => version).join(", ")}`);
