/**
 * `npm run sim -- --seeds 10000`: runs simulated clusters, or with `--workload` contexts with `tasks`, the `returns` of lost hosts, or drivers that reach hosts `through` gateways, with many seeds, and prints the number of seeds per
 * second. For the first seed that fails, it prints the shortest failing run and its trace; with `--all`, the errors of
 * all seeds. `--bug <name>` plants a bug, and `--planted` searches for all planted bugs.
 */
import "../../runtime/index.js";
import { parseArgs } from "node:util";
import { explore, type Run, type Simulation, type SimulationError, simulate } from "../../runtime/testing/index.js";
import { taskWorkload } from "../tasks/simulation/task-workload.js";
import { clusterWorkload } from "./cluster-workload.js";
import { findPlanted } from "./report-planted-bugs.js";
import { returnsWorkload } from "./returns/returns-workload.js";
import { throughWorkload } from "./through/through-workload.js";
import type { Workload } from "./workload.js";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    lines: { type: "string", default: "60" },
    trace: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    bug: { type: "string" },
    planted: { type: "boolean", default: false },
    share: { type: "string", default: "0/1" },
    workload: { type: "string", default: "cluster" },
  },
});
const workloads: Readonly<Record<string, Workload<string>>> = {
  cluster: clusterWorkload,
  returns: returnsWorkload,
  tasks: taskWorkload,
  through: throughWorkload,
};
const workload = workloads[values.workload];
if (workload === undefined) {
  throw new Error(`there is no workload "${values.workload}", but: ${Object.keys(workloads).join("; ")}`);
}
const { bugs, optionsOf } = workload;
const seeds = Number(values.seeds);
const from = Number(values.from);
const { write } = process.stdout;
const print = (text: string): void => void write.call(process.stdout, `${text}\n`);

// Simulated errors need no stack traces.
Error.stackTraceLimit = 4;

if (values.planted) {
  const share = values.share.split("/").map(Number) as [number, number];
  process.exit((await findPlanted(workload, { from, seeds, only: values.bug, share, print })) ? 0 : 1);
}
const plant = bugs.find(({ name }) => name === values.bug)?.plant;
if (values.bug !== undefined && plant === undefined) {
  throw new Error(`there is no bug "${values.bug}", but: ${bugs.map(({ name }) => name).join("; ")}`);
}
/** Plants the bug again for each run, because its counters must not depend on earlier runs. */
const scenario = async (simulation: Simulation): Promise<{ readonly deliveries: number }> => {
  const uproot = plant?.();
  try {
    return await workload.scenario(simulation);
  } finally {
    uproot?.();
  }
};
const start = process.cpuUsage();
const wall = performance.now();
let least = { deliveries: Number.POSITIVE_INFINITY, faults: Number.POSITIVE_INFINITY };
let deliveries = 0;
let done = 0;
const onRun = (run: Run<unknown>): void => {
  const outcome = run.value as { readonly deliveries: number };
  done++;
  deliveries += outcome.deliveries;
  least = {
    deliveries: Math.min(least.deliveries, outcome.deliveries),
    faults: Math.min(least.faults, run.faults.length),
  };
};

if (values.trace) {
  const { lines, message } = await simulate(scenario, { ...optionsOf(from), record: true }).then(
    ({ lines }) => ({ lines, message: "" }),
    (error: SimulationError) => error,
  );
  print(lines.join("\n"));
  if (message !== "") print(message);
  process.exit(message === "" ? 0 : 1);
}
if (values.all) {
  for (let seed = from; seed < from + seeds; seed++) {
    await simulate(scenario, optionsOf(seed)).then(onRun, (error: Error) => print(error.message));
  }
  const { user, system } = process.cpuUsage(start);
  print(`${done} of ${seeds} seeds from ${from} went well: ${(seeds / ((user + system) / 1e6)).toFixed(1)} a second`);
  process.exit(done === seeds ? 0 : 1);
}
const finding = await explore(scenario, { vary: optionsOf, seeds, from, onRun });
const { user, system } = process.cpuUsage(start);
const perSecond = (done / ((user + system) / 1e6)).toFixed(1);
const perWall = (done / ((performance.now() - wall) / 1000)).toFixed(1);
print(
  `${done} seeds from ${from}: ${perSecond} a second of processor time, ${perWall} a second; ${deliveries} deliveries, ` +
    `at least ${least.deliveries} and ${least.faults} faults in each`,
);
if (finding !== undefined) {
  const { seed, error, shortest, shortestError, lines } = finding;
  print(`\nseed ${seed} failed: ${error.message}`);
  print(`\nshortest run that fails: ${shortestError.message}`);
  print(`  left out: ${shortest.without.size} steps`);
  for (const { kind, did, at } of shortestError.faults) print(`  ${at.toFixed(3)} ${kind} ${did}`);
  print(`\nits steps:\n${lines.filter((line) => / scenario notes | ended | fault /.test(line)).join("\n")}`);
  print(`\nits end:\n${lines.slice(-Number(values.lines)).join("\n")}`);
  process.exit(1);
}
