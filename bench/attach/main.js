/**
 * `npm run bench:attach`: the time to attach hosts, and to spawn processes on them. One machine cannot hold 64 hosts with 8 processes
 * each, so these are simulated, in virtual time, with the same code. A smaller number is real.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const simulated = fileURLToPath(new URL("simulated.ts", import.meta.url));
const first = fileURLToPath(new URL("first.js", import.meta.url));
const real = fileURLToPath(new URL("real.js", import.meta.url));

const times = [
  { metric: "attach", title: "ms until all are attached" },
  { metric: "spawn", title: "ms until all processes are ready" },
  { metric: "answer", title: "ms until all actors have answered" },
];
const firstTimes = [
  { metric: "first", title: "ms until the first is ready", ratio: true },
  { metric: "second", title: "ms until the second is ready", ratio: true },
];
const costs = [
  { metric: "attachDriver", title: "ms of the driver, per host" },
  { metric: "attachAll", title: "ms of all processes, per host" },
  { metric: "attachBytes", title: "bytes at the driver, per host" },
  { metric: "spawnDriver", title: "ms of the driver, per process" },
  { metric: "spawnAll", title: "ms of all processes, per process" },
  { metric: "spawnBytes", title: "bytes at the driver, per process" },
];

await benchmark({ name: "attach", title: "Hosts", rounds: 3, needs: ["viceroy"] }, async ({ options, wanted }) => {
  const sizes = options.quick
    ? [[4, 2]]
    : [
        [8, 8],
        [64, 8],
      ];
  const subjects = sizes.map(([hosts, each]) => ({
    name: `${hosts} hosts, ${hosts * each} processes`,
    run: () => runJson([process.execPath, "--import", "tsx", simulated, String(hosts), String(each)]),
  }));
  const samples = await runInterleaved(
    subjects.filter(({ name }) => wanted(name)),
    options,
  );
  const sections = [
    { title: "Simulated: virtual time", samples, table: compare(samples, { columns: times, subject: "cluster" }) },
    {
      title: "Simulated: processor time (one core for all, the simulator included) and bytes",
      table: compare(samples, { columns: costs, subject: "cluster" }),
    },
  ];
  await prepareProgram();
  const [hosts, perHost] = options.quick ? [2, 1] : [8, 2];
  const realSamples = await runInterleaved(
    [
      {
        name: `${hosts} hosts, ${hosts * perHost} processes`,
        run: () => runJson([process.execPath, real, String(hosts), String(perHost)]),
      },
    ],
    options,
  );
  sections.push({
    title: "Real, all on this machine",
    samples: realSamples,
    table: compare(realSamples, { columns: times, subject: "cluster" }),
  });
  const reference = "without spares";
  const firstSamples = await runInterleaved(
    [
      { name: reference, run: () => runJson([process.execPath, first, "0"]) },
      { name: "with 2 spares", run: () => runJson([process.execPath, first, "2"]) },
    ],
    options,
  );
  sections.push({
    title: "Processes on one host, one after the other",
    samples: firstSamples,
    table: compare(firstSamples, { reference, columns: firstTimes, subject: "host" }),
  });
  return sections;
});
