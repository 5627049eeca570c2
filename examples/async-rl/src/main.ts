/**
 * Asynchronous reinforcement learning. A trainer learns a game from rollouts of generators in other processes. Neither side waits for the
 * other: generators play with the weights that they have, and pull newer weights out of the trainer's memory. The trainer rejects rollouts
 * whose policy lag is too large.
 */
import { thisHost } from "viceroy";
import "../generated/registry.js";
import { Learner } from "./learner.js";
import { Player } from "./player.js";

const versions = Number(process.argv[2] ?? 120);
/** The largest accepted policy lag, in versions. */
const maxLag = Number(process.argv[3] ?? 4);
const reports = 6;

await using trainerProcs = thisHost().spawnProcs({ trainers: 1 });
await using generatorProcs = thisHost().spawnProcs({ generators: 3 });
const trainer = trainerProcs.spawn("trainer", Learner, 1, maxLag);
const generators = generatorProcs.spawn("generators", Player, 2);
await generators.join.call(trainer);

async function winRate(): Promise<string> {
  const rates = [...(await generators.evaluate.call(200)).values()];
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  return `${(100 * mean).toFixed(0)} % of episodes won`;
}

console.log(`version 0: ${await winRate()}`);
for (let i = 1; i <= reports; i++) {
  await generators.collect.call(Math.ceil((versions * i) / reports));
  const { version, meanLag, largestLag } = await trainer.progress.callOne();
  const lag = `policy lag ${meanLag.toFixed(1)} versions on average, ${largestLag} at most`;
  console.log(`version ${version}: ${await winRate()}; ${lag}`);
}

const { version, versionsUsed, rejectedRollouts } = await trainer.progress.callOne();
console.log(`rollouts of ${versionsUsed} of ${version} versions were used`);
console.log(`rollouts rejected because of a policy lag above ${maxLag} versions: ${rejectedRollouts}`);
const pulls = [...(await generators.pulls.call()).values()];
const total = (name: "pulled" | "refused") => pulls.reduce((sum, statistics) => sum + statistics[name], 0);
console.log(
  `weights pulled by ${pulls[0]!.transport}: ${total("pulled")} times, refused after revocation: ${total("refused")}`,
);
