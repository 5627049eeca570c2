/** Three replicas train one model. A replica and then a host are killed: the others go on, and the lost replica comes back and catches up. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ProcessJob, SlurmJob } from "viceroy/job";
import "../generated/registry.js";
import { weightCount } from "./data.js";
import { LogisticReplica } from "./logistic-replica.js";
import { plotLoss } from "./plot.js";
import { Quorum, type Step } from "./quorum.js";

const replicas = 3;
const ranks = [...Array(replicas).keys()];
/** The first fault hits replica 0, and the second one replica 1. */
const faults = [killReplica, killHost];
/** The number of steps of all replicas before each fault, and after the last one. */
const together = 40;
const words = process.argv.slice(2);
const plot = words.find((word) => word !== "--slurm");

const options = { meshes: { trainers: { hosts: replicas } }, cache: null, progress: "silent" } as const;
await using job = words.includes("--slurm") ? new SlurmJob(options) : new ProcessJob(options);
const { trainers } = await job.state();
const procs = trainers.spawnProcs({}, { restart: { policy: "on-failure" } });
const mesh = procs.spawn("replicas", LogisticReplica);
const kinds = new Set([...(await mesh.describe.call()).values()].map(({ computesWith }) => computesWith));
console.log(`the replicas compute with ${[...kinds].join(" and ")}`);
const quorum = new Quorum(
  ranks.map((hosts) => mesh.slice({ hosts })),
  2,
);

const steps: Step[] = [];
const kills: Promise<void>[] = [];
let departures = 0;
for (let whole = 0; whole < together || departures < faults.length; ) {
  const before = steps.at(-1)?.members ?? ranks;
  const step = await quorum.step(steps.length);
  steps.push(step);
  const { members } = step;
  const left = before.filter((rank) => !members.includes(rank));
  const back = members.filter((rank) => !before.includes(rank));
  for (const rank of left) console.log(`replica ${rank} has left, and ${members.length} go on`);
  for (const rank of back) console.log(`replica ${rank} is back, with the state of another one`);
  departures += left.length;
  whole = members.length === replicas ? whole + 1 : 0;
  if (whole === together && departures < faults.length) kills.push(faults[departures]!(departures));
  // The steps of a larger model take longer.
  await pause(10);
}
await Promise.all(kills);
const losses = steps.map(({ loss }) => loss);
console.log(`loss ${losses[0]!.toFixed(2)} at first, ${losses.at(-1)!.toFixed(2)} at the end`);
const [first, ...others] = await Promise.all(ranks.map(readWeights));
for (const weights of others)
  assert.deepEqual(weights, first, "cannot train one model: the replicas have different weights");
console.log("all replicas have equal weights");
if (plot !== undefined) writeFileSync(plot, plotLoss(steps, replicas));

/** Kills the process of a replica. */
async function killReplica(rank: number): Promise<void> {
  const { pid } = await mesh.slice({ hosts: rank }).describe.callOne();
  console.log(`the process of replica ${rank} is killed`);
  await kill(rank, `${pid}`);
}

/** Kills the daemon of a host, as a failing machine would. Its processes end with it. */
async function killHost(rank: number): Promise<void> {
  console.log(`the host of replica ${rank} is killed`);
  // The command of `kill` is a child of the daemon.
  await kill(rank, '"$PPID"');
}

async function kill(host: number, pid: string): Promise<void> {
  const run = await job.spmd({ stdio: "ignore" }, ["sh", "-c", `test "$RANK" != ${host} || kill -KILL ${pid}`]);
  await run.exited().catch(() => {});
}

/** Reads the weights of a replica from its memory. */
async function readWeights(rank: number): Promise<Float32Array> {
  const { weights } = await mesh.slice({ hosts: rank }).offer.callOne();
  const copy = new Float32Array(weightCount);
  await weights.readInto(copy);
  await weights.drop();
  return copy;
}
