/** Three replicas train one model. A host is killed: the others go on, and the replica comes back and catches up. */
import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ProcessJob, SlurmJob } from "viceroy/job";
import "../generated/registry.js";
import { LogisticReplica } from "./logistic-replica.js";
import { plotLoss } from "./plot.js";
import { Quorum, type Step } from "./quorum.js";

const replicas = 3;
const killed = 1;
const words = process.argv.slice(2);
const plot = words.find((word) => word !== "--slurm");

const options = { meshes: { trainers: { hosts: replicas } }, cache: null, progress: "silent" } as const;
await using job = words.includes("--slurm") ? new SlurmJob(options) : new ProcessJob(options);
const { trainers } = await job.state();
const procs = trainers.spawnProcs({}, { restart: { policy: "on-failure" } });
const mesh = procs.spawn("replicas", LogisticReplica);
await mesh.ready;
const quorum = new Quorum(
  [...Array(replicas).keys()].map((hosts) => mesh.slice({ hosts })),
  2,
);

const steps: Step[] = [];
let kill: Promise<void> | undefined;
/** The number of steps after the replica has come back. */
let together = 0;
for (let step = 0; together < 40; step++) {
  const made = await quorum.step(step);
  const before = steps.at(-1)?.members.length ?? replicas;
  steps.push(made);
  if (made.members.length < before) console.log(`replica ${killed} has left, and ${made.members.length} go on`);
  if (made.members.length > before) console.log(`replica ${killed} is back, with the state of another one`);
  if (step === 40) kill = killHost(killed);
  if (steps.some(({ members }) => members.length < replicas) && made.members.length === replicas) together++;
  // The steps of a larger model take longer.
  await pause(10);
}
await kill;
const losses = steps.map(({ loss }) => loss);
console.log(`loss ${losses[0]!.toFixed(2)} at first, ${losses.at(-1)!.toFixed(2)} at the end`);
if (plot !== undefined) writeFileSync(plot, plotLoss(steps, replicas));

/** Kills the daemon of a host, as a failing machine would. Its processes end with it. The command is a child of the daemon. */
async function killHost(host: number): Promise<void> {
  const run = await job.spmd({ stdio: "ignore" }, ["sh", "-c", `test "$RANK" != ${host} || kill -KILL "$PPID"`]);
  await run.exited().catch(() => {});
}
