/** Engines pull version after version of the weights of trainers, which continue to train. No engine gets a torn version. */
import { range, thisHost } from "viceroy";
import "../generated/registry.js";
import type { Lateness } from "../generated/weights.js";
import { InferenceEngine } from "./inference-engine.js";
import { ModelTrainer } from "./model-trainer.js";

const mebibytes = Number(process.argv[2] ?? 16);
const steps = Number(process.argv[3] ?? 12);
const followers = 2;

await using trainerProcs = thisHost().spawnProcs({ trainers: 2 });
await using engineProcs = thisHost().spawnProcs({ engines: followers + 1 });
const trainers = trainerProcs.spawn("trainers", ModelTrainer, (mebibytes * 2 ** 20) / 4);
const engines = engineProcs.spawn("engines", InferenceEngine);
await engines.join.call(trainers);

/** The largest lateness of all trainers, as text. */
async function largestLateness(): Promise<string> {
  const all = [...(await trainers.lateness.call()).values()];
  const largest = (name: keyof Lateness) => Math.max(...all.map((lateness) => lateness[name])).toFixed(1);
  return `${largest("mean")} ms late on average, ${largest("max")} ms at most; own work: ${largest("longestRun")} ms at most`;
}

// Warms up code and memory.
for (let step = 0; step < 3; step++) await trainers.step.call();
await engines.pull.call();
await largestLateness();

for (let step = 0; step < steps; step++) await trainers.step.call();
console.log(`event loops of trainers without readers: ${await largestLateness()}`);

const lateEngine = engines.slice({ engines: followers });
const requested = await lateEngine.requestHandles.callOne();
const last = requested + steps;
const following = engines.slice({ engines: range(0, followers) }).follow.call(last);
for (let step = 0; step < steps; step++) await trainers.step.call();
await following;
console.log(`event loops of trainers with ${followers} readers: ${await largestLateness()}`);

const pulled = await lateEngine.pull.callOne();
const statistics = [...(await engines.pulls.call()).values()];
const total = (name: "whole" | "torn" | "refused") => statistics.reduce((sum, engine) => sum + engine[name], 0);
console.log(`versions of ${2 * mebibytes} MiB that engines began to pull by ${statistics[0]!.transport}:`);
console.log(`  whole: ${total("whole")}, refused after revocation: ${total("refused")}, torn: ${total("torn")}`);
const { refused } = statistics.at(-1)!;
console.log(`the late engine requested version ${requested}, was refused ${refused} time, and has version ${pulled}`);
console.log(`all engines have versions ${statistics.map(({ version }) => version).join(", ")}`);
