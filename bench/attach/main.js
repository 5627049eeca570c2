/**
 * `npm run bench:attach`: how long it takes to attach hosts, and to spawn processes on them. 64 hosts with 8 processes each are
 * more than one machine holds: they are simulated, in virtual time, by the same code; fewer are real.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runJson, takeTurns } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const simulated = fileURLToPath(new URL("simulated.ts", import.meta.url));
const real = fileURLToPath(new URL("real.js", import.meta.url));

const times = [
  { metric: "attach", title: "ms until all are attached" },
  { metric: "spawn", title: "ms until all processes are ready" },
  { metric: "answer", title: "ms until all actors have answered" },
];
const costs = [
  { metric: "attachDriver", title: "ms of the driver, a host" },
  { metric: "attachAll", title: "ms of all, a host" },
  { metric: "attachBytes", title: "bytes at the driver, a host" },
  { metric: "spawnDriver", title: "ms of the driver, a process" },
  { metric: "spawnAll", title: "ms of all, a process" },
  { metric: "spawnBytes", title: "bytes at the driver, a process" },
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
  const samples = await takeTurns(
    subjects.filter(({ name }) => wanted(name)),
    options,
  );
  const sections = [
    { title: "Simulated: virtual time", samples, table: compare(samples, { columns: times, subject: "what" }) },
    {
      title: "Simulated: processor time (one core for all, the simulator included) and bytes",
      table: compare(samples, { columns: costs, subject: "what" }),
    },
  ];
  await prepareProgram();
  const [hosts, each] = options.quick ? [2, 1] : [8, 2];
  const there = await takeTurns(
    [
      {
        name: `${hosts} hosts, ${hosts * each} processes`,
        run: () => runJson([process.execPath, real, String(hosts), String(each)]),
      },
    ],
    options,
  );
  sections.push({
    title: "Real, all of them on this machine",
    samples: there,
    table: compare(there, { columns: times, subject: "what" }),
  });
  return sections;
});
