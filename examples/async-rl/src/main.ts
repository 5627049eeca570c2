/**
 * A trainer learns a game from what generators in other processes play. Nobody waits for anybody: generators go on with the weights that
 * they have, pull newer ones out of the trainer's memory, and what they have played with too old ones is refused.
 */
import { thisHost } from "viceroy";
import "../generated/registry.js";
import { PolicyTrainer } from "./learner.js";
import { RolloutGenerator } from "./player.js";

const versions = Number(process.argv[2] ?? 120);
/** By how many versions weights may be older than those that learn from their games. */
const maxStaleness = Number(process.argv[3] ?? 4);
const reports = 6;

await using trainerProcs = thisHost().spawnProcs({ trainers: 1 });
await using generatorProcs = thisHost().spawnProcs({ generators: 3 });
const trainer = trainerProcs.spawn("trainer", PolicyTrainer, 1, maxStaleness);
const generators = generatorProcs.spawn("generators", RolloutGenerator, 2);
await generators.join.call(trainer);

async function successRate(): Promise<string> {
  const shares = [...(await generators.test.call(200)).values()];
  const share = shares.reduce((sum, one) => sum + one, 0) / shares.length;
  return `${(100 * share).toFixed(0)} % of games are won`;
}

console.log(`version 0: ${await successRate()}`);
for (let i = 1; i <= reports; i++) {
  await generators.play.call(Math.ceil((versions * i) / reports));
  const { version, staleness, stalest } = await trainer.progress.callOne();
  const old = `${staleness.toFixed(1)} versions old on average, ${stalest} at most`;
  console.log(`version ${version}: ${await successRate()}; weights that were played with were ${old}`);
}

const { version, played, refused } = await trainer.progress.callOne();
console.log(`${played} of ${version} versions were played with`);
console.log(`refused games, since their weights were more than ${maxStaleness} versions old: ${refused} times`);
const followed = [...(await generators.followed.call()).values()];
const sum = (part: "pulled" | "refused") => followed.reduce((all, one) => all + one[part], 0);
console.log(`pulled by ${followed[0]!.transport}: ${sum("pulled")} times, refused since taken back: ${sum("refused")}`);
